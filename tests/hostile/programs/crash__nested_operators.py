# A program of so many operators that reading it recurses.
# expect: model_error memory_exceeded crashed
# process: none
# then: ~ * 100000
X = 1
