# Is an answer in words.
# expect: model_error
# process: none
Here is the program that you asked for:
