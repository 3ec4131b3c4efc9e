"""What lies in the task, the agent's manner or the model: nothing around them is broken."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.vocabulary import FailureCause

SIGNS = (
    Sign(
        "context-overflow",
        FailureCause.TASK,
        3,
        "more text than the model can read",
        listed(
            """
            prompt is too long; prompt too long; input is too long; input too long; conversation is too long;
            context length; context window; contextwindowexceedederror; contextwindowexceeded; context limit;
            context overflow; maximum context; max context; maximum prompt length; maximum input length; maximum
            number of tokens; maximum tokens allowed; exceeds the maximum…tokens; exceeds…token limit;
            exceeded…token limit; token count…exceeds; tokens exceed; too many tokens; too many input tokens;
            request too large; request entity too large; payload too large; string too long; reduce the length
            of the messages
            """
        ),
        unless=listed("tokens per min; tpm; rate limit"),
    ),
    Sign(
        "step-limit",
        FailureCause.TASK,
        3,
        "used up its steps or its budget",
        listed(
            """
            max turns; maximum number of turns; maximum turns; turn limit; max steps; step limit; maximum number
            of steps; maximum steps; max iterations; maximum number of iterations; maximum iterations; iteration
            limit; maximum of…iterations; maximum of…steps; maximum of…turns; limit of…iterations; limit
            of…steps; limit of…turns; maximum number of requests; recursion limit of; limitsexceeded; limits
            exceeded; cost limit; max budget; budget exceeded; budget exhausted; exceeded…budget; exceeded max
            cost; out of budget; max episodes; maximum episodes
            """
        ),
        unless=listed("retries"),
    ),
    Sign(
        "refused-by-policy",
        FailureCause.TASK,
        3,
        "refused by a policy of the provider",
        listed(
            """
            content filter; content filtering; content management policy; content policy; usage policy; usage
            policies; safety system; safety filter; prohibited content; was flagged; been flagged; responsible
            ai policy; blocked by…safety
            """
        ),
    ),
    Sign(
        "malformed-answer",
        FailureCause.MODEL,
        2,
        "answers of the model that cannot be used",
        listed(
            """
            found 0 actions; exactly one action; malformed function call; malformed tool call; malformed
            response; malformed output; invalid tool call; invalid function call; invalid tool parameters;
            invalid tool arguments; failed to parse tool; failed to parse…response; failed to parse…model;
            failed to parse…llm; could not parse…response; could not parse…llm; could not parse…model; could not
            parse…action; unable to parse…response; unparsable; unparseable; outputparserexception;
            functioncallformaterror; formaterror; format error; no tool call; no tool calls; no function call;
            did not call any tool; unknown tool; no such tool; tool…does not exist; tool…not found; empty
            response; empty completion; empty message; model output…not valid json; exited due to repeated
            format; failed to match…search; searchreplacenoexactmatch; search replace block; no exact match; max
            output tokens; output token maximum; output tokens…maximum; finish reason length; stop reason max
            tokens; stuck in a loop; agent is stuck; agentstuckinlooperror; repeated the same; same
            action…times; loop detected
            """
        ),
        unless=listed("package json; npm; tsconfig; config"),
    ),
    Sign(
        "tests-failed",
        FailureCause.UNKNOWN,
        1,
        "tests fail",
        listed(
            """
            assert; assertion; assertions; assertionerror; assertion failed; assertionfailederror;
            comparisonfailure; expectationfailed; expect received;
            expected…got; expected…but was; failed tests…py; failed test…py; fail test; fail tests
            """
        ),
        unless=listed("compiled with; not compiled"),
        settles=True,
    ),
    Sign(
        "tests-failed",
        FailureCause.UNKNOWN,
        1,
        "tests fail",
        listed(
            """
            tests failed; test failed; failed tests; test failures; failures
            1; short test summary; some tests did not pass; test result failed; test suites…failed; checks
            failed; does not match expected; expected…received; expected…but got; panicked at
            """
        ),
    ),
    Sign(
        "ended",
        FailureCause.UNKNOWN,
        0,
        "",
        listed(
            """
            agent timed out; agent timeout; agent failed; agent exited; agent crashed; agent error; agent did
            not finish; run timed out; run failed; task timed out; task failed; trial failed; trial timed out;
            harness; timed out after; timeout after; time limit; deadline; terminated by; exited with code;
            exited with status; exited with non zero; exit code; exit status; exit 1; returned non zero; non
            zero exit; nonzero exit; command failed; process failed; unknown error; an error occurred; something
            went wrong; setup failed; installation failed; install failed; script failed; elifecycle; complete
            log of this run; unsuccessful
            """
        ),
    ),
)
