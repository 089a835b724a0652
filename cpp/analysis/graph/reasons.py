"""Reasons why a value must stay concrete, or a place is unchanged: a stable word and a general sentence."""

from __future__ import annotations

from enum import Enum


class SkipReason(Enum):
    """Stable words for reports and suppressions.

    ``sentence`` is the explanation if a place has no more specific one.
    """

    sentence: str

    def __new__(cls, word: str, sentence: str = "") -> SkipReason:
        """Return a member by its word. ``SkipReason("loop-bound")`` looks it up again."""
        member = object.__new__(cls)
        member._value_ = word
        member.sentence = sentence
        return member

    ARRAY_INDEX = "array-index", "the value is an index"
    C_ARRAY = "c-array", "an array can't change its type alone"
    CAST = "cast", "the value is cast to a type that has no symbolic twin"
    CONCRETE_OPERAND = "concrete-operand", "an array that the value meets stays concrete"
    CONCRETE_PARAMETER = "concrete-parameter", "the callee takes something else there"
    CONTAINER_SIZE = "container-size", "the value decides how many elements there are"
    DATA_POINTER = "data-pointer", "code on data pointers only runs on real data"
    DECIDES_ARITY = "decides-arity", "the value decides how many Tensors there are"
    DECLARED_TYPE = "declared-type", "the declared type has no symbolic twin"
    DEVICE_BRANCH = "device-branch", "a branch that one device takes only runs on real data"
    DEVICE_CODE = "device-code", "code for one device only runs on real data"
    DIMNAME = "dimname", "a dimension by name has no symbolic form"
    DISPATCH_MACRO = "dispatch-macro", "code that is made for each dtype only runs on real data"
    EXTERNAL_LINKAGE = "external-linkage", "the function can be called from other files"
    FUNCTION_ESCAPES = "function-escapes", "the function is named without being called"
    GUARDED_OPERAND = (
        "guarded-operand",
        "a part of the condition may only make sense if another holds: split the check by hand",
    )
    KERNEL_SHARED = "kernel-shared", "the function is a kernel of another operator too, whose schema takes integers"
    KERNEL_UNKNOWN = "kernel-unknown", "what is registered is not a function that can be read here"
    KERNEL_SIGNATURE = "kernel-signature", "the dispatcher calls the function: its signature follows the schema"
    LAMBDA_ESCAPES = "lambda-escapes", "the lambda is handed to code that can't be seen"
    LOOP_BOUND = "loop-bound", "a loop runs as often as the value says"
    MACRO_BODY = "macro-body", "a macro may name the variable"
    METHOD_SIGNATURE = "method-signature", "the function belongs to a class"
    MIXED_ASSIGNMENT = "mixed-assignment", "the variable is assigned a value of another type"
    MIXED_CONDITIONAL = "mixed-conditional", "the other branch is of another type"
    MIXED_STATEMENT = "mixed-statement", "another size of the same statement stays concrete"
    NAMED_ELSEWHERE = "named-elsewhere", "another file names the function in a way that can't be followed"
    NEITHER_BRANCH_GENERAL = (
        "neither-branch-general",
        "sizes of 2 and more take both sides: no default is right for the general case",
    )
    NESTED_TOO_DEEPLY = (
        "nested-too-deeply",
        "too many expressions or statements stand inside one another: split the function",
    )
    NO_FAKE_KERNEL = "no-fake-kernel", "nothing runs on fake tensors for it: register a fake kernel first"
    NO_SYMINT_OPERATOR = "no-symint-operator", "the value is tested for truth"
    NO_SYMINT_SCHEMA = "no-symint-schema", "the operator takes plain integers there"
    OUTPUT_REFERENCE = "output-reference", "the argument is written through and is no variable"
    OVERLOADED = "overloaded", "several functions of the file could be meant"
    PARALLEL_FOR = "parallel-for", "a parallel loop only runs on real data"
    PARSE_ERROR = "parse-error", "the text around it can't be read with certainty"
    PREPROCESSOR_BRANCH = "preprocessor-branch", "another branch of a conditional may say something else"
    RECEIVER_UNKNOWN = "receiver-unknown", "the receiver is not known to be a Tensor"
    REGISTRATION_UNREAD = "registration-unread", "a block of registrations names nothing that is known here"
    RETURN_TYPE = "return-type", "the other results are of an unknown type"
    SAVED_DATA = "saved-data", "the value is kept where a reader is out of sight"
    SCHEMA_UNCLEAR = "schema-unclear", "the schema can't be read"
    SHARED_WITH_KERNEL = "shared-with-kernel", "the function is called from kernel code too"
    STATIC_STORAGE = "static-storage", "the variable outlives the call that sets it"
    STRUCTURED_BINDING = "structured-binding", "the value is unpacked"
    STRUCTURED_META = (
        "structured-meta",
        "a structured meta gives its outputs integer sizes, by set_output: a Python meta or a decomposition need not",
    )
    STRUCT_FIELD = "struct-field", "the member is named where its struct is not known"
    SWITCH = "switch", "the value selects a case"
    TEMPLATE_ARGUMENT = "template-argument", "the value is a template argument"
    TEMPLATE_TAG = "template-tag", "a tag of a template may stand for any code"
    TEMPLATE_UNREAD = "template-unread", "what surrounds it in this template can't be read as a function of C++"
    TEMPLATE_SIGNATURE = "template-signature", "the function is a template"
    TENSOR_ITERATOR = (
        "tensor-iterator",
        "a TensorIterator computes with integer sizes: a Python meta or a decomposition of the operator need not",
    )
    TWO_KINDS = "two-kinds", "the expression would have two symbolic types"
    UNKNOWN_CALLEE = "unknown-callee", "nothing says that the callee takes a symbolic value"
    UNKNOWN_INITIALIZER = "unknown-initializer", "the variable starts with a value of an unknown type"
    UNKNOWN_OPERAND = "unknown-operand", "the value meets one of an unknown type"
    UNKNOWN_TARGET = "unknown-target", "the value is stored out of sight"
    UNSIGNED_ARITHMETIC = "unsigned-arithmetic", "an unsigned operator wraps where a SymInt is below 0"
    UNSUPPORTED_SYNTAX = "unsupported-syntax", "the value flows into a form that is not understood"
