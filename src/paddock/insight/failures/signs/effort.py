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
            exceeded…token limit; conversation too long; context low; ran out of room in the model; token
            count…exceeds; tokens exceed; too many tokens; too many input tokens; request too large; request entity
            too large; payload too large; string too long; reduce the length of the messages; context is too long;
            context too long; exceeds the context; exceeded the context; exceed context; context_length_exceeded;
            contextlengthexceeded; input length and max tokens exceed; input tokens exceed; token limit exceeded;
            prompt exceeds; messages too long; conversation exceeds; too large for the model; chat history…too long;
            compaction failed; error during compaction; cannot compact
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
            max turns; maximum number of turns; maximum turns; turn limit; max steps; step limit; maximum number of
            steps; maximum steps; max iterations; maximum number of iterations; maximum iterations; iteration limit;
            maximum of…iterations; maximum of…steps; maximum of…turns; limit of…iterations; limit of…steps; limit
            of…turns; maximum number of requests; recursion limit of; limitsexceeded; limits exceeded; cost limit;
            max budget; budget exceeded; budget exhausted; exceeded…budget; exceeded max cost; out of budget; max
            episodes; maximum episodes; maximum tool calls; tool call limit; episode limit; episodes limit; maximum
            number of episodes; budget…exhausted; budget limit; cost limit exceeded; exceeded its budget; max cost;
            max tool; steps exhausted; reached the limit of; number of turns exceeded; session turn limit; max
            session turns; turnlimitederror; fatalturnlimitederror; turn limited
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
            policies; safety system; safety filter; prohibited content; was flagged; been flagged; responsible ai
            policy; blocked by…safety; finish reason safety; finishreason safety; finish reason prohibited;
            finishreason prohibited; finish reason content; stop reason refusal; blocked by the model; block reason;
            blockreason; violates our; violate our; appears to violate; output blocked; input blocked; request was
            rejected as a result of; i can t help with; i cannot help with; i can t assist; i cannot assist; unable
            to assist with; cannot fulfill this request; can t fulfill
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
            found 0 actions; exactly one action; malformed function call; malformed tool call; malformed response;
            malformed output; invalid tool call; invalid function call; invalid tool parameters; invalid tool
            arguments; failed to parse tool; failed to parse…response; failed to parse…model; failed to parse…llm;
            could not parse…response; could not parse…llm; could not parse…model; could not parse…action; unable to
            parse…response; unparsable; unparseable; outputparserexception; functioncallformaterror; formaterror;
            format error; no tool call; no tool calls; no function call; did not call any tool; unknown tool; no
            such tool; tool…does not exist; tool…not found; empty response; empty completion; model output…not valid
            json; exited due to repeated format; failed to match…search; searchreplacenoexactmatch; search replace
            block; no exact match; max output tokens; output token maximum; output tokens…maximum; finish reason
            length; stop reason max tokens; stuck in a loop; agent is stuck; agentstuckinlooperror; repeated the
            same; same action…times; loop detected; repeated action; did not conform to the edit format; reflections
            allowed; unsupported call; failed to parse function arguments; apply patch verification failed; invalid
            patch; could not apply patch; no valid action; no action found; malformed answers; malformed answer;
            empty answer; neither text nor tool; no text nor tool; without text or tool; empty assistant;
            assistant…empty; no content in response; response had no content; blank response; invalid arguments for
            tool; tool arguments…invalid; invalid json…tool; json parsing failed; arguments…not valid json; could
            not decode tool; tool call…invalid; invalid tool use; tool use…malformed; tool…is not available; not a
            registered tool; invalid action; unparseable action; expected exactly one; found 2 actions; invalid
            response format; not in the expected format; invalid diff; malformed diff; malformed patch; search text
            not found; old string not found; string to replace not found; no match found for search; edit
            failed…times; failed to apply edit; failed to edit…attempts; reflections; potential loop; same tool
            call; consecutive mistakes; too many consecutive; too many malformed; too many format errors; too many
            invalid; model gave up; gave no answer; no generation; finish reason malformed; malformed_function_call;
            finishreason malformed; truncated response; response was truncated; tried to call unavailable tool;
            unavailable tool; call unavailable; tool…does not conform
            """
        ),
        unless=listed("package json; npm; tsconfig; config"),
    ),
    Sign(
        "nothing-delivered",
        FailureCause.MODEL,
        2,
        "ended without a change",
        listed(
            """
            empty patch; patch is empty; patch was empty; empty diff; diff is empty; diff was empty; no patch was;
            no patch generated; empty submission; submitted nothing; no changes were submitted
            """
        ),
    ),
    Sign(
        "asked-instead",
        FailureCause.MODEL,
        2,
        "asked whether to begin instead of doing it",
        listed(
            """
            like me to proceed; want me to proceed; shall i proceed; should i proceed; like me to implement; want me
            to implement; shall i implement; like me to start; shall i start; like me to go ahead; want me to go
            ahead; shall i go ahead; like me to make these changes; ready to proceed; once you approve; wait for your
            confirmation; await your confirmation; waiting for your confirmation; details on what you would like;
            unable to complete this request; cannot complete this request; recommend that a developer; what would
            you like me to
            """
        ),
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
        unless=listed("compiled with; not compiled; incompatible with; binary incompatibility"),
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
