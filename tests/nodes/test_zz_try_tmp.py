import subprocess, time, sys
from pathlib import Path
import pytest
from tests.fleet.yard import build_template, clean_environment, commit, play, write
from tests.nodes.ranch import RayCluster, build_ranch
from tests.store.postgres_session import server_of_session
from tests.nodes.conftest import ranch_template

def test_try(ranch_template, tmp_path):
    t=time.time()
    cluster = RayCluster(clean_environment(tmp_path))
    ranch=None
    out = open("/tmp/nodes-try/real.txt","w")
    def show(*words):
        r = subprocess.run((sys.executable,"-m","paddock",*words), cwd=ranch.yard.top, env={**ranch.yard.environment, "PYTHONPATH":"/work/main/src","COLUMNS":"150"} if hasattr(ranch.yard,"environment") else None, capture_output=True, text=True)
        out.write(f"$ paddock {' '.join(words)}   [{r.returncode}]\n{r.stdout}{r.stderr}\n"); out.flush()
        return r
    try:
        nodes = [cluster.add("n1",4), cluster.add("gpu-1",2,gpu="true")]
        for n in nodes: n.await_start()
        out.write(f"cluster up {time.time()-t:.1f}\n")
        (tmp_path/"f").mkdir()
        ranch = build_ranch(ranch_template, tmp_path/"f", server_of_session().url(), cluster, PADDOCK_LIMITS_MAX_AGENTS="4")
        yard = ranch.yard
        print([a for a in dir(yard) if not a.startswith("__")], file=out)
        go = yard.folder/"go"
        names=[]
        brief = play(write("a.txt"), commit())
        for needs in ([], ["--needs","gpu"], ["--needs","os=linux"], ["--needs","tpu"], ["--needs", "os=darwin"]):
            yard.paddock("add", play({"wait_for": str(go)}, write(f"a{len(names)}.txt"), commit()), *needs); names.append(1)
        daemon = yard.start("run", "--until-idle")
        deadline=time.time()+60
        while time.time()<deadline and len(yard.board().live)<3: time.sleep(.2)
        time.sleep(3)
        out.write(yard.paddock("nodes")+"\n"); out.write(yard.paddock("status")+"\n")
        out.write(yard.paddock("drain","gpu-1","--reason","try")+"\n")
        out.write(yard.paddock("show","t2")+"\n")
        go.touch()
        out.write(yard.paddock("drain","gpu-1","--wait", "--timeout", "60s")+"\n")
        yard.paddock("add", play(write("b.txt"), commit()), "--needs", "gpu")
        time.sleep(6)
        out.write(yard.paddock("status")+"\n")
        out.write(yard.paddock("nodes")+"\n")
        out.write(yard.paddock("drain","gpu-1","--undo")+"\n")
        deadline=time.time()+40
        while time.time()<deadline and yard.board().tasks["t6"].phase!="approval": time.sleep(.2)
        out.write(yard.paddock("status")+"\n")
        out.write(yard.paddock("show","t6")+"\n")
        out.write(yard.paddock("nodes","--json")+"\n")
    finally:
        if ranch: ranch.close()
        cluster.close()
        out.write(f"done {time.time()-t:.1f}\n"); out.close()
