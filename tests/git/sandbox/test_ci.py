from paddock.config.schema import Check, LandSettings
from paddock.git.sandboxes.ci import CiCheck, CiDefinition, check_command, ci_environment, define_ci
from paddock.git.sandboxes.sandbox import SandboxOrder, release_sandbox
from tests.git.conftest import commit, git
from tests.git.sandbox.conftest import Yard


class TestDefinition:
    def test_the_key_changes_with_everything_that_decides_a_verdict(self) -> None:
        plain = LandSettings(ci="make test")
        variants = [
            plain,
            LandSettings(ci="make check"),
            LandSettings(ci="make test", setup="make deps"),
            LandSettings(ci="make test", env={"A": "1"}),
            LandSettings(checks=(Check("ci", "make test"), Check("lint", "make lint"))),
            LandSettings(checks=(Check("lint", "make lint"), Check("ci", "make test"))),
            LandSettings(checks=(Check("ci", "make test", paths=("src/**",)),)),
            LandSettings(checks=(Check("ci", "make test", quarantine=True),)),
        ]
        keys = [definition.digest for land in variants if (definition := define_ci(land))]
        assert len(set(keys)) == len(variants)

    def test_the_key_does_not_change_with_what_decides_none(self) -> None:
        one = define_ci(LandSettings(ci="make test", timeout=60.0, slots=4, env={"A": "1", "B": "2"}))
        two = define_ci(
            LandSettings(ci="make test", timeout=90.0, slots=8, env={"B": "2", "A": "1"}), keep=("node_modules",)
        )
        named = define_ci(
            LandSettings(checks=(Check("ci", "make test", timeout=5.0, retry=2),), env={"A": "1", "B": "2"})
        )
        digests = [definition.digest for definition in (one, two, named) if definition]
        assert len(digests) == 3
        assert len(set(digests)) == 1

    def test_only_checks_that_look_at_a_path_are_asked_about_it(self) -> None:
        everywhere, web, api = (
            CiCheck("lint", "tools/lint"),
            CiCheck("web", "npm test", ("web/**",)),
            CiCheck("api", "pytest api", ("api/**", "*.lock")),
        )
        definition = CiDefinition((everywhere, web, api))
        assert definition.checks_for(("web/a.ts",)) == (everywhere, web)
        assert definition.checks_for(("web/a.ts", "uv.lock")) == (everywhere, web, api)
        assert definition.checks_for(("README.md",)) == (everywhere,)
        assert definition.checks_for(()) == (everywhere,)

    def test_a_change_of_what_ci_is_is_put_to_every_check(self) -> None:
        definition = CiDefinition((CiCheck("web", "tools/web", ("web/**",)), CiCheck("api", "make api", ("api/**",))))
        for path in ("paddock.toml", "Makefile", "tools/web", ".ci/anything"):
            assert definition.checks_for((path,)) == definition.checks

    def test_a_file_is_matched_as_a_file_and_a_link_as_the_folder_it_may_lead_to(self) -> None:
        python = CiCheck("python", "pytest", ("**/*.py",))
        definition = CiDefinition((python, CiCheck("all", "tools/all")))
        assert definition.checks_for(("README.md",)) == (definition.checks[1],)
        assert definition.checks_for(("src/a.py",)) == definition.checks
        assert definition.checks_for((), links=("vendor",)) == definition.checks

    def test_attributes_anywhere_are_put_to_every_check(self) -> None:
        definition = CiDefinition((CiCheck("web", "tools/web", ("web/**",)),))
        assert definition.checks_for((".gitattributes",)) == definition.checks
        assert definition.checks_for(("docs/.gitattributes",)) == definition.checks

    def test_what_names_the_tasks_of_a_runner_is_part_of_ci(self) -> None:
        assert CiDefinition((CiCheck("a", "npm test"),)).touched_by(("package.json",))
        assert CiDefinition((CiCheck("a", "just test"),)).touched_by(("justfile",))
        assert not CiDefinition((CiCheck("a", "pytest"),)).touched_by(("package.json",))

    def test_no_command_is_no_definition(self) -> None:
        assert define_ci(LandSettings(ci="  ")) is None

    def test_a_change_of_what_ci_is_is_recognised(self) -> None:
        definition = CiDefinition(
            (CiCheck("a", "make test"), CiCheck("b", "sh ./scripts/lint.sh 'x")), setup=".ci/setup"
        )
        assert definition.touched_by(("src/a.py", "paddock.toml"))
        assert definition.touched_by(("Makefile",))
        assert definition.touched_by(("scripts/lint.sh",))
        assert definition.touched_by((".ci/anything",))
        assert not definition.touched_by(("src/a.py", "docs/Makefile", "scripts/other.sh"))


class TestEnvironment:
    def test_secrets_and_git_variables_stay_out(self, yard: Yard) -> None:
        secret = ("GIT_DIR", "GIT_INDEX_FILE", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "API_KEY")
        parent = {"PATH": "/bin", "LC_ALL": "C", "HOME": "/x", "TMPDIR": "/y"} | dict.fromkeys(secret, "s")
        definition = CiDefinition((CiCheck("ci", "true"),), env=(("API_URL", "u"), ("CI", "yes")))
        env = ci_environment(yard.sandbox(), definition, "c" * 40, parent)
        assert not set(secret) & set(env)
        assert (env["API_URL"], env["CI"], env["LC_ALL"]) == ("u", "yes", "C")
        assert env["HOME"] == str(yard.sandbox().home)
        assert env["TMPDIR"] == str(yard.sandbox().tmp)

    def test_ci_can_commit_without_the_persons_identity(self, yard: Yard) -> None:
        box = yard.sandbox()
        yard.prepare(box)
        ran = yard.start(
            box, "git init -q $TMPDIR/x && cd $TMPDIR/x && git commit -q --allow-empty -m x && git log --format=%an"
        )
        assert ran.out == "Paddock CI\n"

    def test_each_check_is_a_command_of_its_own(self, yard: Yard) -> None:
        definition = CiDefinition((CiCheck("unit", "echo a"), CiCheck("lint", "echo b")))
        planned = [check_command(yard.sandbox(), definition, check, "c" * 40, {}) for check in definition.checks]
        assert [(plan.argv[-1], plan.env["PADDOCK_CHECK"]) for plan in planned] == [
            ("echo a", "unit"),
            ("echo b", "lint"),
        ]


class TestSetup:
    def test_setup_runs_once_and_what_it_made_stays(self, yard: Yard) -> None:
        definition = CiDefinition(
            (CiCheck("ci", "true"),), setup="mkdir -p 'dep [1]'; date +%N > 'dep [1]/stamp'; touch $HOME/cache"
        )
        box = yard.sandbox()
        order = SandboxOrder("r1", yard.main, setup=definition.setup_digest)
        assert yard.prepare(box, setup=order.setup).needs_setup
        yard.set_up(box, definition, order)
        stamp = (box.tree / "dep [1]" / "stamp").read_text()
        yard.start(box, "touch left")
        release_sandbox(box, "r1")
        later = yard.prepare(box, commit(yard.top, {"new.txt": "n\n"}), run="r2", setup=order.setup)
        assert (later.needs_setup, later.rebuilt) == (False, "")
        assert (box.tree / "dep [1]" / "stamp").read_text() == stamp
        assert (box.home / "cache").exists()
        assert not (box.tree / "left").exists()

    def test_tracked_files_that_setup_changed_are_put_back(self, yard: Yard) -> None:
        definition = CiDefinition((CiCheck("ci", "true"),), setup="echo changed > README.md; touch made")
        box = yard.sandbox()
        order = SandboxOrder("r1", yard.main, setup=definition.setup_digest)
        yard.prepare(box, setup=order.setup)
        yard.set_up(box, definition, order)
        assert (box.tree / "README.md").read_text() == "hello\n"
        assert (box.tree / "made").exists()

    def test_a_setup_that_failed_is_tried_again(self, yard: Yard) -> None:
        definition = CiDefinition((CiCheck("ci", "true"),), setup="exit 3")
        box = yard.sandbox()
        order = SandboxOrder("r1", yard.main, setup=definition.setup_digest)
        yard.prepare(box, setup=order.setup)
        assert yard.set_up(box, definition, order).exited.code == 3
        release_sandbox(box, "r1")
        assert yard.prepare(box, run="r2", setup=order.setup).needs_setup

    def test_another_setup_means_another_sandbox(self, yard: Yard) -> None:
        definition = CiDefinition((CiCheck("ci", "true"),), setup="touch made")
        box = yard.sandbox()
        order = SandboxOrder("r1", yard.main, setup=definition.setup_digest)
        yard.prepare(box, setup=order.setup)
        yard.set_up(box, definition, order)
        release_sandbox(box, "r1")
        again = yard.prepare(box, run="r2", setup="another")
        assert (again.rebuilt, again.needs_setup) == ("the set-up changed", True)
        assert not (box.tree / "made").exists()
        assert git(box.tree, "status", "--porcelain") == ""
