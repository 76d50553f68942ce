"""The judge finds what it must find. Run by ctest without a server."""
import copy
import unittest

import compare
from compare import Entry

OK = {"code": "OK", "message": False, "facts": {"ready": True}}
BAD = {"code": "NOT_FOUND", "message": True, "facts": {}}


def faults(answers, triton, differences=(), waiting=()):
    return compare.judge(answers, triton, list(differences), list(waiting))[0]


class JudgeTest(unittest.TestCase):
    def test_equal_answers_are_fine(self):
        self.assertEqual(faults({"a": OK, "b": BAD}, {"a": OK, "b": BAD}), [])

    def test_another_code_is_a_fault(self):
        self.assertIn("want OK", faults({"a": BAD}, {"a": OK})[0])

    def test_other_facts_are_a_fault(self):
        other = copy.deepcopy(OK)
        other["facts"]["ready"] = False
        self.assertEqual(len(faults({"a": other}, {"a": OK})), 1)

    def test_an_error_needs_a_text(self):
        silent = dict(BAD, message=False)
        self.assertEqual(faults({"a": silent}, {"a": BAD}), ["a: NOT_FOUND without a text"])

    def test_a_listed_difference_must_be_the_stated_one(self):
        entry = Entry("chosen", ["a"], "NOT_FOUND", {})
        self.assertEqual(faults({"a": BAD}, {"a": OK}, [entry]), [])
        self.assertEqual(len(faults({"a": dict(BAD, code="INTERNAL")}, {"a": OK}, [entry])), 1)

    def test_a_star_stands_for_any_text(self):
        entry = Entry("chosen", ["a"], "OK", {"name": "*", "list": ["x"]})
        answer = {"code": "OK", "message": False, "facts": {"name": "reprise", "list": ["x"]}}
        self.assertEqual(faults({"a": answer}, {"a": OK}, [entry]), [])
        for facts in ({"name": "", "list": ["x"]}, {"name": "n", "list": ["y"]}, {"name": "n", "list": ["x", "y"]},
                      {"name": "n"}):
            self.assertEqual(len(faults({"a": dict(answer, facts=facts)}, {"a": OK}, [entry])), 1)

    def test_a_fact_that_is_left_out_stands_for_null(self):
        entry = Entry("chosen", ["a"], "OK", {"name": "n"})
        answer = {"code": "OK", "message": False, "facts": {"name": "n", "scheduling": None}}
        self.assertEqual(faults({"a": answer}, {"a": OK}, [entry]), [])
        answer["facts"]["scheduling"] = "dynamic_batching"
        self.assertEqual(len(faults({"a": answer}, {"a": OK}, [entry])), 1)

    def test_a_listed_case_that_answers_as_triton_must_leave_the_list(self):
        self.assertIn("answers as Triton does",
                      faults({"a": BAD}, {"a": BAD}, [Entry("chosen", ["a"], "NOT_FOUND", {})])[0])

    def test_a_waiting_case_must_say_unimplemented(self):
        entry = Entry("waits", ["s/*"], "UNIMPLEMENTED", {})
        self.assertEqual(faults({"s/a": dict(BAD, code="UNIMPLEMENTED")}, {"s/a": OK}, waiting=[entry]), [])
        self.assertEqual(len(faults({"s/a": dict(OK, facts={})}, {"s/a": OK}, waiting=[entry])), 1)

    def test_a_waiting_case_needs_no_text_and_may_answer_as_triton_does(self):
        entry = Entry("waits", ["s"], "UNIMPLEMENTED", {}, waits=True)
        silent = {"code": "UNIMPLEMENTED", "message": False, "facts": {}}
        self.assertEqual(faults({"s": silent}, {"s": dict(silent, message=True)}, waiting=[entry]), [])

    def test_a_case_that_triton_was_not_asked_is_a_fault(self):
        self.assertEqual(faults({"a": OK}, {}), ["a: Triton was not asked"])

    def test_a_pattern_without_a_case_is_a_fault(self):
        self.assertIn("no case is called b*", faults({"a": OK}, {"a": OK}, [Entry("chosen", ["b*"], "OK", {})])[0])

    def test_a_case_in_both_lists_is_a_fault(self):
        entry = Entry("chosen", ["a"], "NOT_FOUND", {})
        self.assertIn("listed twice", faults({"a": BAD}, {"a": OK}, [entry], [entry])[0])

    def test_a_case_that_was_not_asked_is_a_fault(self):
        self.assertEqual(faults({}, {"a": OK}), ["a was not asked"])

    def test_a_dead_server_is_a_fault_even_where_a_difference_is_listed(self):
        dead = dict(BAD, code="UNAVAILABLE", server_died=True)
        self.assertIn("died", faults({"a": dead}, {"a": OK}, [Entry("chosen", ["a"], "UNAVAILABLE", {})])[0])


if __name__ == "__main__":
    unittest.main()
