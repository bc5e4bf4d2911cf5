# Breaks no rule.
# base: stones
# violation: none
