def definitely_true(x):
    return x is True


def f(x):
    return definitely_true(x) and definitely_false(x)
