# Holds half of a surrogate pair.
# expect: model_error
# process: none
# then: \ud800 * 1
X = 1
