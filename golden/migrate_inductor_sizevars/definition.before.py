# symfix-golden: path=torch/_inductor/sizevars.py
class SizeVarAllocator:
    def is_expr_static_and_true(self, expr) -> bool:
        return self.shape_env.known(expr)

    def statically_known_leq(self, left, right) -> bool:
        return self.is_expr_static_and_true(left <= right)
