# Holds a null byte.
# expect: model_error
# process: none
# then: \x00 * 1
X = 1
