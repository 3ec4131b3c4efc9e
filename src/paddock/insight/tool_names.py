"""Which tools do what, by the names that agents' CLIs and frameworks give them.

A name is compared without its case, its separators and the server it comes from: `mcp__fs__read_file` and `ReadFile`
are `readfile`.
"""

import re

from paddock.insight.command_words import names
from paddock.insight.phases import Phase

SHELL_TOOLS = names(
    "bash shell sh zsh terminal exec execute execcommand localshell localshellcall commandexecution"
    " executecommand runcommand runshellcommand runterminalcommand runterminalcmd runinterminal"
    " shellcommand unifiedexec powershell executebash executeshell runbash bashtool shelltool cmd command"
    " console executescript runshell bashcommand terminalcommand executeterminalcommand sandboxexec"
    " containerexec launchprocess keystrokes sendkeystrokes sendkeys tmux"
)
PATCH_TOOLS = names("applypatch patch applydiff filechange gitapply unifieddiff")
EDITOR_TOOLS = names("strreplaceeditor strreplacebasededittool texteditor fileeditor editor anthropiceditor")
"""Their `command` says what they do."""
EDITOR_COMMANDS = {
    "view": Phase.READ,
    "read": Phase.READ,
    "write": Phase.CREATE,
    "create": Phase.CREATE,
    "str_replace": Phase.EDIT,
    "insert": Phase.EDIT,
    "undo_edit": Phase.EDIT,
}

_BY_PHASE: dict[Phase, str] = {
    Phase.SEARCH: (
        "grep glob ls list listdir listdirectory listfiles listfolder find findfile findfiles findbyname"
        " searchfile searchfiles searchdir searchfilecontent searchtext searchcode ripgrep rg codebasesearch"
        " codesearch filesearch toolsearch semanticsearch greptool globtool listdirtool directorytree"
        " readfolder readdirectory search findreferences findsymbol gotodefinition lsp searchpapers"
        " searchmemory listmcpresources listcodedefinitionnames grepsearch ctrlf"
    ),
    Phase.READ: (
        "read readfile readfiles readmanyfiles view viewfile viewimage viewsource cat open openfile goto"
        " scrollup scrolldown notebookread readnotebook getfile getfilecontents readmcpresource skill"
        " slashcommand loadskill activateskill inspectfileastext readfiletool filereader readtext"
        " readtexteditor viewcode readlints diagnostics getdiagnostics getproblems visualizer viewrange"
        " readtool fetchrules readprocess"
    ),
    Phase.EDIT: (
        "edit multiedit editfile stredit strreplace strreplaceedit replace replaceinfile replacestringinfile"
        " insert insertedit inserteditintofile inserttext searchreplace searchandreplace notebookedit"
        " editnotebook updatefile modifyfile changefile undoedit edittool editfiletool deletefile removefile"
        " renamefile movefile sedit aideredit appendfile filedit smarteditor morphedit fastapply"
    ),
    Phase.CREATE: (
        "write writefile writetofile create createfile newfile savefile writetool filewrite filewriter"
        " createnewfile createdirectory"
    ),
    Phase.RUN: (
        "pythoninterpreter executepython runpython python ipython ipythonruncell executecell runcell runcode"
        " executecode codeinterpreter codeexecution jupyter bashoutput killshell killbash writestdin"
        " readterminal taskoutput taskstop agentoutput wait sleep startprocess interactwithprocess monitor"
        " calculator calculate wolframalpha sqlquery executesql runnotebookcell killterminal"
        " listbackgroundshells readbash stopbash writebash getterminaloutput mcpidegetdiagnostics"
        " idegetdiagnostics executecodetool repl js javascript datetime gettime"
    ),
    Phase.TEST: "runtests runtest testrunner runtestsuite executetests pytest runtesttool testfailure",
    Phase.BUILD: "build compile lint runbuild installpackage installdependencies runlint typecheck format",
    Phase.GIT_READ: "gitstatus gitdiff gitlog gitshow gitblame",
    Phase.GIT_WRITE: "gitcommit gitadd gitcheckout gitpush gitreset gitcreatebranch gitmerge gitstash commit",
    Phase.NET: (
        "webfetch fetch websearch googlewebsearch googlesearch bingsearch duckduckgosearch search_web"
        " searchweb searchengine searchinformation visit visitpage visitwebpage visitwebsite openurl browse"
        " browser browseraction navigate click scroll pagedown pageup findonpagectrlf findnext archivesearch"
        " webpage crawl scrape httprequest download downloadfile geturl urlfetch tavilysearch serpapi"
        " wikipedia wikipediasearch arxivsearch perplexity fetchurl fetchwebpage readurl curl screenshot"
        " computer computeruse getyoutubetranscript findarchivedurl"
    ),
    Phase.PLAN: (
        "todowrite todoread todo todolist updateplan plan exitplanmode enterplanmode taskcreate taskupdate"
        " tasklist taskget think sequentialthinking reflect reason savememory memory updatetodo updatetodolist"
        " managetodolist writetodos setgoal reportintent createplan makeplan planning note notes scratchpad"
        " createtodolist enterworktree exitworktree updatememory remember marktodo thinking finalizeplan"
        " teamcreate teamdelete setmodel setmode switchmode newtask condense tasktracker proposelocs"
    ),
    Phase.DELEGATE: (
        "task agent delegate subagent spawnagent dispatchagent searchagent callagent runagent sendmessage"
        " sendinput waitagent closeagent resumeagent handoff assign collabtoolcall collab delegatetask"
        " delegatetoagent codebaseinvestigator invokeagent createsubagent sendtoagent workflow runsubagent"
        " oracle"
    ),
    Phase.ASK: (
        "askuserquestion askuser ask askfollowupquestion askhuman askquestion requestuserinput userinput"
        " question respond reply messageuser notifyuser sendusermessage transfertohumanagents escalate"
        " humaninput clarify requestapproval elicit"
    ),
    Phase.SUBMIT: (
        "submit finalanswer finish complete attemptcompletion taskcomplete taskdone done reportcomplete"
        " structuredoutput submitanswer submitpatch submitsolution finalize exit returnresult reportresult"
        " answer exitcost exitcontext exitformat exitforfeit giveup markcomplete"
    ),
}
PHASE_OF_TOOL: dict[str, Phase] = {name: phase for phase, known in _BY_PHASE.items() for name in known.split()}

_VERBS: dict[Phase, str] = {
    Phase.SEARCH: "search find list query lookup discover match filter locate",
    Phase.READ: "get read view show fetch retrieve check inspect describe load open lookup count peek",
    Phase.EDIT: (
        "edit update modify change set delete remove cancel exchange return replace rename move patch apply undo"
    ),
    Phase.CREATE: "create add book write insert make generate new place order register upload save draft post",
    Phase.RUN: (
        "run execute calculate compute exec eval start stop kill process convert transform parse extract analyze"
    ),
    Phase.TEST: "test verify",
    Phase.BUILD: "build compile install lint",
    Phase.NET: "browse browser visit navigate download crawl click http web page request",
    Phase.PLAN: "plan think todo remember reflect",
    Phase.DELEGATE: "delegate spawn dispatch handoff agent assign",
    Phase.ASK: "ask transfer escalate notify send respond reply message email confirm",
    Phase.SUBMIT: "submit finish complete final",
    Phase.GIT_WRITE: "commit push merge",
}
PHASE_OF_VERB: dict[str, Phase] = {}
for _phase, _known in _VERBS.items():
    for _verb in _known.split():
        PHASE_OF_VERB.setdefault(_verb, _phase)

_SERVER = re.compile(
    r"^(?:mcp__.*?__|[A-Za-z0-9]{1,40}__|mcp_|functions\.|default_api[:.]|tools?\.|namespace\.|repo_browser\.)",
    re.DOTALL,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATOR = re.compile(r"[^A-Za-z0-9]+")


def bare_name(tool: str) -> str:
    """Without the server that offers it."""
    bare = _SERVER.sub("", tool, count=1)
    return bare or tool


def tool_key(bare: str) -> str:
    return _SEPARATOR.sub("", bare).lower()


def words_of_name(bare: str) -> list[str]:
    return [word for word in _SEPARATOR.split(_CAMEL.sub("_", bare).lower()) if word]
