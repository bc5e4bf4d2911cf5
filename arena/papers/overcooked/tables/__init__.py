"""The OvercookedV2 paper's tables and its games of two steps, made anew, beside what it reports."""
