# Breaks no rule, with chance and something hidden.
# base: coin
# violation: none
