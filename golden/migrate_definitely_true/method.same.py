class Solver:
    def f(self, x):
        return self.definitely_true(x) or definitely_true(*x)
