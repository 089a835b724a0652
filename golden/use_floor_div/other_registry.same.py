# symfix-golden: path=models/lowering.py
def register_lowering(*names):
    return lambda function: function


@register_lowering("add")
def blocks(n, block):
    return n // block
