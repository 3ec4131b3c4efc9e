"""What a patch tells of a change: tests that went, asserts that say less, new dependencies, CI touched."""

import difflib
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddock.insight.facts import facts_of_patch
from paddock.insight.trace import Facts


def patch(path: str, before: str, after: str, *, moved_to: str = "") -> str:
    """As git writes it, for a file that changes, comes (`before` empty) or goes (`after` empty)."""
    to = moved_to or path
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = [f"diff --git a/{path} b/{to}\n"]
    head += ["new file mode 100644\n"] if not before else []
    head += ["deleted file mode 100644\n"] if not after else []
    head += [f"rename from {path}\n", f"rename to {to}\n"] if moved_to else []
    sides = (f"a/{path}" if before else "/dev/null", f"b/{to}" if after else "/dev/null")
    return "".join([*head, *difflib.unified_diff(old, new, *sides)])


TWO = "def test_one():\n    x = first()\n    assert x == 1\n\n\ndef test_two():\n    y = second()\n    assert y == 2\n"


def test_an_empty_patch_changes_nothing_and_says_so() -> None:
    facts = facts_of_patch("")
    assert (facts.files, facts.insertions, facts.deletions, facts.tests_deleted) == ((), 0, 0, 0)
    assert facts.new_dependency is False
    assert facts.diff == sha256(b"").hexdigest()[:32]
    assert facts.verified_last_edit is None


def test_lines_and_files_are_counted_whatever_they_look_like() -> None:
    text = patch("a.sql", "-- drop\n++x\nkeep\n", "-- create\n@@ -1 +1 @@\nkeep\n") + patch("b c.txt", "", "new\n")
    facts = facts_of_patch(text)
    assert facts.files == ("a.sql", "b c.txt")
    assert (facts.insertions, facts.deletions) == (3, 2)


def test_a_deleted_test_is_told() -> None:
    facts = facts_of_patch(patch("tests/test_a.py", TWO, TWO[: TWO.index("\n\ndef test_two")]))
    assert (facts.tests_added, facts.tests_deleted) == (0, 1)


def test_a_deleted_file_deletes_all_of_its_tests() -> None:
    assert facts_of_patch(patch("tests/test_a.py", TWO, "")).tests_deleted == 2


@pytest.mark.parametrize(
    ("path", "declaration"),
    [
        ("pkg/a_test.go", "func TestOne(t *testing.T) {\n}\n"),
        ("src/a.test.ts", "it('adds numbers', () => {\n})\n"),
        ("src/__tests__/a.js", "test.each([1, 2])('adds %d', (n) => {\n})\n"),
        ("src/lib.rs", "#[test]\nfn adds() {\n}\n"),
        ("tests/io.rs", "#[tokio::test]\nasync fn reads() {\n}\n"),
        ("src/test/java/ATest.java", "@Test\nvoid addsNumbers() {\n}\n"),
        ("src/test/kotlin/ATest.kt", "@Test\nfun `adds numbers`() {\n}\n"),
        ("spec/a_spec.rb", "it 'adds' do\nend\n"),
        ("test/a_test.rb", "def test_adds\nend\n"),
        ("a_test.cc", "TEST(Sum, Adds) {\n}\n"),
        ("tests/a.c", "void test_adds(void)\n{\n}\n"),
        ("tests/ATest.php", "public function testAdds()\n{\n}\n"),
        ("ATests/ATests.cs", "[Fact]\npublic void Adds()\n{\n}\n"),
        ("Tests/ATests.swift", "func testAdds() {\n}\n"),
        ("test/a_test.exs", 'test "adds" do\nend\n'),
        ("test/a_test.dart", "test('adds', () {\n});\n"),
        ("test/a.bats", '@test "adds" {\n}\n'),
    ],
)
def test_tests_of_many_languages_are_seen_to_come_and_go(path: str, declaration: str) -> None:
    rest = "first line\n\nlast line\n"
    came = facts_of_patch(patch(path, rest, rest + declaration))
    went = facts_of_patch(patch(path, rest + declaration, rest))
    assert (came.tests_added, came.tests_deleted) == (1, 0)
    assert (went.tests_added, went.tests_deleted) == (0, 1)


def test_a_mark_that_goes_takes_its_test_with_it() -> None:
    before = "#[test]\nfn adds() {\n    assert_eq!(1, 1);\n}\n"
    assert facts_of_patch(patch("src/lib.rs", before, before.removeprefix("#[test]\n"))).tests_deleted == 1


def test_code_that_only_looks_like_a_test_is_none_outside_of_tests() -> None:
    facts = facts_of_patch(patch("src/client.py", "def test_connection():\n    assert up\n", ""))
    assert (facts.tests_deleted, facts.asserts_removed) == (0, 0)


def test_a_test_that_moves_to_another_file_is_not_deleted() -> None:
    text = patch("tests/test_a.py", TWO, "") + patch("tests/test_b.py", "", TWO)
    facts = facts_of_patch(text)
    assert (facts.tests_added, facts.tests_deleted, facts.asserts_removed) == (0, 0, 0)


def test_a_test_with_another_name_is_not_deleted() -> None:
    facts = facts_of_patch(patch("tests/test_a.py", TWO, TWO.replace("test_two", "test_the_second")))
    assert (facts.tests_added, facts.tests_deleted) == (0, 0)


def test_a_test_that_is_replaced_by_another_one_is_deleted() -> None:
    other = TWO[: TWO.index("def test_two")] + "def test_three():\n    pass\n"
    facts = facts_of_patch(patch("tests/test_a.py", TWO, other))
    assert (facts.tests_added, facts.tests_deleted) == (1, 1)


def test_a_test_whose_name_no_longer_says_so_is_deleted() -> None:
    assert (
        facts_of_patch(patch("tests/test_a.py", TWO, TWO.replace("def test_two", "def xtest_two"))).tests_deleted == 1
    )


def test_a_test_that_becomes_a_remark_is_deleted() -> None:
    after = "".join(f"# {line}" if "two" in line or "y" in line else line for line in TWO.splitlines(keepends=True))
    assert facts_of_patch(patch("tests/test_a.py", TWO, after)).tests_deleted == 1


def test_a_file_of_tests_that_is_renamed_away_is_a_deleted_test() -> None:
    text = "diff --git a/tests/test_a.py b/attic/a.py.off\nsimilarity index 100%\nrename from tests/test_a.py\n"
    facts = facts_of_patch(text + "rename to attic/a.py.off\n")
    assert facts.files == ("tests/test_a.py", "attic/a.py.off")
    assert facts.tests_deleted == 1


def test_a_file_of_tests_that_is_only_renamed_is_not() -> None:
    text = "diff --git a/tests/test_a.py b/tests/test_b.py\nrename from tests/test_a.py\nrename to tests/test_b.py\n"
    assert facts_of_patch(text).tests_deleted == 0


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("tests/test_a.py", "@pytest.mark.skip(reason='later')"),
        ("tests/test_a.py", "@pytest.mark.xfail"),
        ("tests/test_a.py", "@unittest.skip('later')"),
        ("tests/test_a.py", "    pytest.skip('later')"),
        ("a.test.js", "it.skip('adds', () => {"),
        ("a.test.js", "describe.only('sum', () => {"),
        ("a.test.js", "xit('adds', () => {"),
        ("a_test.go", "\tt.Skip(`later`)"),
        ("a_test.go", "//go:build ignore"),
        ("tests/a.rs", "#[ignore]"),
        ("ATest.java", "@Disabled"),
        ("a_spec.rb", "  skip 'later'"),
        ("a_test.cc", "  GTEST_SKIP();"),
    ],
)
def test_a_test_that_is_kept_from_running_is_told(path: str, line: str) -> None:
    text = "one\ntwo\nthree\n"
    assert facts_of_patch(patch(path, text, f"{text}{line}\n")).tests_skipped == 1
    assert facts_of_patch(patch(path, f"{text}{line}\n", text)).tests_skipped == 0


def test_a_skip_of_a_new_test_skips_nothing_that_ran() -> None:
    new = "@pytest.mark.skipif(windows)\ndef test_new():\n    assert x\n"
    assert facts_of_patch(patch("tests/test_b.py", "", new)).tests_skipped == 0


def test_a_test_that_moves_and_is_skipped_there_is_skipped() -> None:
    moved = TWO.replace("def test_two", "@pytest.mark.skip\ndef test_two")
    facts = facts_of_patch(patch("tests/test_a.py", TWO, "") + patch("tests/test_b.py", "", moved))
    assert (facts.tests_deleted, facts.tests_skipped) == (0, 1)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("tests/test_a.py", "assert total(x) == 10", "assert total(x)"),
        ("tests/test_a.py", "assert total(x) == 10", "assert total(x) is not None"),
        ("tests/test_a.py", "assert total(x) == 10", "assert True"),
        ("tests/test_a.py", "assert x == 1", "assert x == 1 or True"),
        ("tests/test_a.py", "self.assertEqual(x, 1)", "self.assertTrue(x)"),
        ("tests/test_a.py", "assert names == ['a']", "assert 'a' in names"),
        ("a.test.ts", "expect(sum).toBe(3);", "expect(sum).toBeDefined();"),
        ("a.test.ts", "expect(sum).toEqual([3]);", "expect(true).toBe(true);"),
        ("a_test.go", "require.Equal(t, 3, sum)", "require.NotNil(t, sum)"),
        ("tests/a.rs", "assert_eq!(sum, 3);", "assert!(sum > 0);"),
        ("ATest.java", "assertEquals(3, sum);", "assertNotNull(sum);"),
        ("a_test.cc", "EXPECT_EQ(sum, 3);", "EXPECT_TRUE(sum);"),
    ],
)
def test_an_assert_that_says_less_is_told(path: str, before: str, after: str) -> None:
    frame = "one\n{}\ntwo\n"
    assert facts_of_patch(patch(path, frame.format(before), frame.format(after))).asserts_removed == 1
    assert facts_of_patch(patch(path, frame.format(after), frame.format(before))).asserts_removed == 0


def test_an_assert_that_goes_is_told_and_one_that_is_written_differently_is_not() -> None:
    gone = TWO.replace("    assert y == 2\n", "    pass\n")
    other = TWO.replace("assert y == 2", "assert y == 3")
    wrapped = TWO.replace("assert y == 2", "assert (\n        y\n        == 2\n    )")
    assert facts_of_patch(patch("tests/test_a.py", TWO, gone)).asserts_removed == 1
    assert facts_of_patch(patch("tests/test_a.py", TWO, other)).asserts_removed == 0
    assert facts_of_patch(patch("tests/test_a.py", TWO, wrapped)).asserts_removed == 0


def test_asserts_in_another_order_say_as_much() -> None:
    lines = ["assert x == 1\n", "assert y\n"]
    facts = facts_of_patch(patch("tests/test_a.py", "".join(lines), "".join(reversed(lines))))
    assert facts.asserts_removed == 0


@pytest.mark.parametrize(
    ("path", "before", "line"),
    [
        ("package.json", '{\n  "dependencies": {\n  }\n}\n', '    "left-pad": "^1.3.0",\n'),
        ("pyproject.toml", 'dependencies = [\n  "msgspec>=0.19",\n', '  "requests>=2",\n'),
        ("requirements-dev.txt", "msgspec==1\n", "requests\n"),
        ("Cargo.toml", "[dependencies]\n", 'serde = { version = "1" }\n'),
        ("go.mod", "require (\n", "\tgithub.com/pkg/errors v0.9.1\n"),
        ("Gemfile", "source 'https://example.org'\n", "gem 'rails'\n"),
        ("pom.xml", "<dependencies>\n", "  <artifactId>junit</artifactId>\n"),
        ("build.gradle", "dependencies {\n", "    implementation 'org.example:lib:1.0'\n"),
    ],
)
def test_a_new_dependency_is_told(path: str, before: str, line: str) -> None:
    assert facts_of_patch(patch(path, before, before + line)).new_dependency is True
    assert facts_of_patch(patch(path, before + line, before)).new_dependency is False


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("package.json", '"version": "1.0.0",\n', '"version": "1.1.0",\n"scripts": {"build": "tsc"}\n'),
        ("package.json", '"left-pad": "^1.3.0"\n', '"left-pad": "^2.0.0"\n'),
        ("pyproject.toml", 'version = "1"\n', 'version = "2"\nrequires-python = ">=3.12"\n'),
        ("src/package.py", "", 'requests = "2"\n'),
        ("requirements.txt", "Some_Thing==1\n", "some-thing==2\n# other\n"),
    ],
)
def test_another_version_is_no_new_dependency(path: str, before: str, after: str) -> None:
    assert facts_of_patch(patch(path, before, after)).new_dependency is False


def test_files_outside_the_tasks_paths_are_named() -> None:
    text = patch("src/api/a.py", "", "x\n") + patch("docs/b.md", "", "x\n")
    assert facts_of_patch(text, ["src/api/**"]).outside == ("docs/b.md",)
    assert facts_of_patch(text).outside == ()


def test_what_defines_ci_is_named() -> None:
    text = patch(".github/workflows/test.yml", "", "x\n") + patch("Makefile", "", "x\n") + patch("src/a.py", "", "x\n")
    assert facts_of_patch(text).ci == (".github/workflows/test.yml",)
    assert facts_of_patch(text, ci_files={"Makefile"}).ci == (".github/workflows/test.yml", "Makefile")


def test_the_same_edits_have_the_same_digest_wherever_they_are() -> None:
    text = patch("a.py", "x = 1\n", "x = 2\n")
    assert facts_of_patch(text).diff == facts_of_patch(text.replace("@@ -1 +1 @@", "@@ -9 +9 @@")).diff
    assert facts_of_patch(text).diff != facts_of_patch(text.replace("+x = 2", "+x = 3")).diff


def test_git_quotes_odd_names_and_a_patch_may_have_no_header_of_gits() -> None:
    quoted = (
        'diff --git "a/caf\\303\\251.py" "b/caf\\303\\251.py"\n--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n'
    )
    assert facts_of_patch(f"{quoted}@@ -1 +1 @@\n-a\n+b\n").files == ("café.py",)
    assert facts_of_patch("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- a/y.py\n+++ b/y.py\n").files == (
        "x.py",
        "y.py",
    )


def test_a_patch_in_pieces_is_the_same_patch() -> None:
    text = patch("tests/test_a.py", TWO, TWO.replace("== 2", "")).encode()
    assert facts_of_patch(text[at : at + 1] for at in range(len(text))) == facts_of_patch(text)


def test_a_line_of_any_length_is_read_in_a_bounded_way() -> None:
    text = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+" + "(" * 3_000_000
    assert (facts_of_patch(text).insertions, facts_of_patch(text).files) == (1, ("x.py",))


_LINES = st.sampled_from(
    [
        *("diff --git a/tests/test_a.py b/tests/test_a.py", "--- a/tests/test_a.py", "+++ b/tests/test_a.py"),
        *("@@ -1,3 +1,3 @@", "@@ -1 +1,99999 @@", "+++ /dev/null", "--- /dev/null", "rename from x", "rename to y.rs"),
        *("deleted file mode 1", "new file mode 1", "+def test_x():", "-def test_x():", " #[test]", "-fn a() {}"),
        *("-assert x == (", "+assert x", "\\ No newline", "", "+\0\x1b[31m", 'diff --git "a/\\', "Binary files differ"),
        *('+++ "b/\\777"', "diff --git ", "@@ -9999999999 +1 @@", "copy from a", "copy to b"),
    ]
)


@given(st.one_of(st.text(), st.binary(), st.lists(_LINES).map("\n".join)))
@example("\udc80diff --git \ud800")
def test_any_text_has_facts(text: str | bytes) -> None:
    facts = facts_of_patch(text, ["src/**"], gate="green")
    assert isinstance(facts, Facts)
    counts = (facts.insertions, facts.deletions, facts.tests_added, facts.tests_deleted, facts.tests_skipped)
    assert all(count is not None and count >= 0 for count in (*counts, facts.asserts_removed))
    assert facts.gate == "green"


def test_a_dependency_without_a_version_is_told_where_its_list_says_what_it_is() -> None:
    before = 'dependencies = [\n  "msgspec>=0.19",\n]\n'
    lint = 'select = [\n  "E",\n]\n'
    assert facts_of_patch(patch("pyproject.toml", before, before.replace("]", '  "requests",\n]'))).new_dependency
    assert not facts_of_patch(patch("pyproject.toml", lint, lint.replace("]", '  "F",\n]'))).new_dependency
