# Answers with a dictionary whose items are made up, and never the same.
# expect: ok model_error bad_value
# process: none
class Lying(dict):
    def items(self):
        return [("a", Lying), ("b", 1)]


def attack(target):
    return Lying()
