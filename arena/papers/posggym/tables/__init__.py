"""The POSGGym paper's tables and figures as tables, matrices of ours beside what it reports."""
