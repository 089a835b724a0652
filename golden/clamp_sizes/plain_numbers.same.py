# symfix-golden: path=torch/_refs/example.py
def plain(n: int, m: int) -> int:
    if n > m:
        n = m
    return n if n < 3 else 3
