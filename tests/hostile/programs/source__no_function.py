# Defines something under the right name that cannot be called.
# expect: model_error
# process: none
attack = 7
