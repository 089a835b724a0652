# symfix-golden: path=torch/_inductor/sizevars.py
class SizeVarAllocator:
    def statically_known_true(self, expr) -> bool:
        return self.shape_env.known(expr)

    def statically_known_leq(self, left, right) -> bool:
        return self.statically_known_true(left <= right)
