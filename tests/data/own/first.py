"""An agent of a user's own, in a file of its own: it takes the first move there is."""


class First:
    def act(self, turn):
        return turn.legal_actions[0]
