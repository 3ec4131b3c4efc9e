"""How an environment says that something is missing in it, or is there in a version that does not fit."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.vocabulary import FailureCause

SIGNS = (
    Sign(
        "externally-managed",
        FailureCause.DEPENDENCY,
        3,
        "an installer that is refused (PEP 668)",
        listed(
            """
            externally managed; pep 668; break system packages
            """
        ),
    ),
    Sign(
        "wrong-python",
        FailureCause.DEPENDENCY,
        3,
        "a version of Python that does not fit",
        listed(
            """
            requires a different python; require a different python; requires python; requires a python version;
            python version not supported; unsupported python version; not supported by this version of python;
            no interpreter found; no solution found…python; python…not supported; python…is required
            """
        ),
        unless=listed("requires python3 but it is not installable"),
    ),
    Sign(
        "no-such-package",
        FailureCause.DEPENDENCY,
        2,
        "a package or version that does not exist",
        listed(
            """
            could not find a version that satisfies; no matching distribution; no versions of; because there is no
            version; no solution found; was not found in the package registry; package not found;
            packagesnotfounderror; packagenotfounderror; resolvepackagenotfound; unable to locate package; couldn t
            find any package; has no installation candidate; is not available but is referred to; no
            package…available; unable to find a match; no match for argument; nothing provides; unable to select
            packages; target not found; no available formula; no formulae; 404 not found; e404; is not in this
            registry; is not in the npm registry; no matching version found; etarget; notarget; couldn t find
            package; couldn t find any versions; no matching package; failed to select a version; could not find
            gem; could not find artifact; could not find…in any of the sources; could not find package; unknown
            revision; no matching versions for query; invalid version; module…not found in registry; could not
            resolve all; unable to find package; unable to find a package; could not find a matching version; no
            such package; unknown package; unable to find a suitable version; could not find system library; yanked;
            could not find crate; failed to find…package; unable to resolve package; no package matching; nothing
            matches; module…does not provide; could not find module with specified checksum; could not resolve
            artifact; cannot resolve external dependency; failed to resolve…artifact; plugin…was not found in any;
            unable to find a specification; none of your spec sources; provider registry…does not have; failed to
            query available provider packages; is not available for platform; was not found in conda
            """
        ),
    ),
    Sign(
        "version-conflict",
        FailureCause.DEPENDENCY,
        3,
        "versions that do not fit together",
        listed(
            """
            resolutionimpossible; conflicting dependencies; dependency conflict; dependency conflicts; incompatible
            versions; version conflict; versionconflict; contextualversionconflict; distributionnotfound;
            conflicting peer; eresolve; could not resolve dependency; could not resolve dependencies; failed to
            resolve dependencies; unable to resolve dependency; unable to resolve dependencies; unmet dependencies;
            unmet dependency; unmet peer; held broken packages; unsatisfiableerror; requirements could not be
            resolved; version solving failed; is not compatible with; not compatible with your;
            incompatible…version; package lock json…not in sync; are not in sync; lockfile…out of date; lockfile is
            not up to date; outdated lockfile; lock file needs to be updated; frozen lockfile; checksum mismatch;
            eintegrity; integrity check failed; hash mismatch; do not match the hashes; lockfile…not up to date;
            lock file is out of date; cannot install with frozen; lockfile had changes, but lockfile is frozen;
            lockfile would have been; your lock file does not; lockfile version…not supported; unsupported lockfile;
            needs to be updated but…locked; could not find compatible versions; couldn t find compatible versions;
            incompatible peer; requires…but you have; but none was installed; no compatible version; cannot find
            compatible; version resolution failed; go sum…mismatch; verifying…checksum; changed significantly
            since…lock; rejecting…conflict; solver failed; backjump limit reached
            """
        ),
        unless=listed("merge conflict"),
    ),
    Sign(
        "wrong-version",
        FailureCause.DEPENDENCY,
        3,
        "a tool in a version that does not fit",
        listed(
            """
            ebadengine; ebadplatform; unsupported engine; engine node is incompatible; the engine…is incompatible;
            unsupported platform; unsupported architecture; requires node; requires rustc; requires java; requires
            ruby; requires php; requires npm; or newer is required; or later is required; or higher is required; or
            greater is required; or above is required; minimum supported; minimum required version; rustc…is not
            supported; currently active rustc version; feature…is required; edition2024; invalid go version; go mod
            requires; toolchain not available; unsupported class file major version; unsupportedclassversionerror;
            unsupported major minor; has been compiled by a more recent version; your ruby version is; is not
            supported by this; version mismatch; version…not supported; version…is not satisfied; does not satisfy;
            was not compiled against; exec format error; cannot execute binary file; bad cpu type; no matching
            manifest for; image platform…does not match; cuda driver version; no kernel image is available; abi
            version; node module version; was compiled against a different; requires go version; version is too old;
            version…too old; version…older than; unsupported version of; requires bazel; requires gradle; requires
            maven; requires kotlin; requires swift; requires xcode; requires cmake; requires dotnet; requires pnpm;
            requires yarn; compatible net sdk was not found; compatible…sdk was not found; requires sdk version;
            cmake…or higher is required; could not determine java version; unsupported java version; unsupported
            java; invalid source release; invalid target release; error release version…not supported; source
            option…is no longer supported; requires at least java; engine is incompatible; node version is
            incompatible; your node version is; package requires rustc; requires rust; err ossl evp unsupported;
            digital envelope routines; binary incompatibility; dtype size changed; compiled using numpy 1; wrong elf
            class; unsupported compiler; toolchain…is not installed; toolchain…not installed; no matching toolchains;
            it supports only; but you are running on; declared in its…supports
            """
        ),
        unless=listed("ssl; self assert"),
    ),
    Sign(
        "old-libc",
        FailureCause.DEPENDENCY,
        3,
        "a C library that is too old",
        listed("glibcxx; glibc…not found; version glibc; musl…not found; libc so…version"),
    ),
    Sign(
        "missing-data",
        FailureCause.DEPENDENCY,
        3,
        "data or an extension that is not installed",
        listed(
            """
            localentrynotfounderror; outgoing traffic has been disabled; couldn t find the files in the cached;
            cannot find the requested files in the…cache; offlinemodeisenabled; extension…is not available; could
            not open extension control file; resource…not found please use the nltk downloader; can t find model;
            model weights not found; repository not found for url; is not a local folder and is not a valid model;
            checkpoint…not found; tokenizer…not found; lfs…object does not exist; smudge filter…failed;
            submodule…not initialized
            """
        ),
    ),
    Sign(
        "unfit-call",
        FailureCause.DEPENDENCY,
        2,
        "a call that does not fit what is installed",
        listed(
            """
            module…has no attribute; init…unexpected keyword argument; unrecognized arguments; unrecognized option;
            unrecognised option; unknown option; unknown flag; unknown command; invalid option; illegal option; no
            such option; unexpected argument; type not yet supported; unsupported operand type s for type; type
            object is not subscriptable; unknown argument; unknown arguments; unexpected option; unsupported option;
            unrecognized flag; flag provided but not defined
            """
        ),
    ),
    Sign(
        "unfit-object",
        FailureCause.DEPENDENCY,
        1,
        "a call that may not fit what is installed",
        listed(
            """
            has no attribute; got an unexpected keyword argument; unsupported operand type
            """
        ),
        unless=listed("nonetype"),
    ),
    Sign(
        "missing-command",
        FailureCause.DEPENDENCY,
        1,
        "a command that is missing",
        listed(
            """
            command not found; not found in path; not found on path; executable not found; executable file not
            found; executable doesn t exist; binary not found; is not recognized as an internal; is not recognized
            as a name of a cmdlet; is not recognized as the name; no such command; enoent; exec…no such file; env…no
            such file; bad interpreter; not found…sh; sh…not found; bash…no such file; isn t installed; not
            installed; please install; you need to install; needs to be installed; must be installed; must first
            install; command…not available; could not find command; could not find executable; unable to find
            executable; cannot find…executable; no such file or directory…exec; can t find…in path; exited with code
            127; exit code 127; exit code 126; status 127; wasn t found in; was not found in your path; unknown
            command…did you mean; no such program; cannot execute…required file; cannot run program; could not run;
            program not found; make…no such file; gcc…not found; unable to locate…executable; failed to spawn…not
            found; spawn…enoent; could not locate executable; executable…not found in path; is it installed; have
            you installed; not found please install; is required but; requires…to be installed; tool not found; no
            suitable…found in path
            """
        ),
    ),
    Sign(
        "missing-module",
        FailureCause.DEPENDENCY,
        3,
        "a module that is missing",
        listed(
            """
            modulenotfounderror; no module named; importerror; cannot import name; cannot find module; can t find
            module; module not found; module…not found; can t resolve; cannot find package; could not find module;
            cannot find crate; can t find crate; unresolved import; no required module provides; package…is not in;
            is not in std; is not in goroot; missing go sum entry; classnotfoundexception; noclassdeffounderror;
            could not find or load main class; package…does not exist; cannot load such file; loaderror; can t
            locate…in inc; there is no package called; missing dependency; missing dependencies; missing required
            dependency; missing peer; missing package; missing module; no such module; could not resolve module;
            could not load module; failed to resolve import; failed to load plugin; plugin…not found; unknown import
            path; unable to resolve path to module; error loading…module; extension…not loaded; could not load file
            or assembly
            """
        ),
        unless=listed("no module named pip install; no module named tests"),
    ),
    Sign(
        "missing-library",
        FailureCause.DEPENDENCY,
        3,
        "a library that is missing",
        listed(
            """
            cannot open shared object; error while loading shared libraries; library not loaded; library not found;
            libraries not found; cannot find l; undefined symbol; undefined reference; symbol not found; symbol
            lookup error; dll load failed; was not found in the pkg config; pkg config…not found; pkg
            config…required; no package…found; could not find a package configuration; could not find…include;
            python h no such file; h no such file or directory; header…not found; linker…not found; no acceptable c
            compiler; c compiler cannot create; could not find a c compiler; unable to find…compiler; no cmake cxx
            compiler; no cmake c compiler; development headers; missing libraries; host system is missing
            dependencies; openssl…not found; could not find directory of openssl; could not load dynamic library;
            could not load library; unable to load library; libcudart; nvidia smi…failed; no nvidia driver; found no
            nvidia; no cuda; cuda…not available; required package was not found; could not find openssl; could not
            find zlib; could not find boost; could not find…missing; package…not found in the pkg config; h file not
            found; dyld…image not found; libgl so; ldd…not found; unable to find library; mysql config not found; pg
            config executable not found; no developer tools; xcrun error
            """
        ),
    ),
    Sign(
        "build-failed",
        FailureCause.DEPENDENCY,
        2,
        "a package that cannot be built",
        listed(
            """
            unable to detect version for; no package metadata was found; failed building wheel; could not build
            wheels; failed to build; subprocess exited with error; metadata generation failed; error in setup
            command; getting requirements to build; preparing metadata…error; backendunavailable; node gyp; gyp err;
            rebuild error; failed to run custom build command; could not compile; failed to compile; error
            compiling; compilation failed; executor failed running; failed to solve; did not complete successfully;
            image build failed; docker build failed; docker…build…non zero exit; dpkg returned an error; sub
            process…dpkg; error processing package; pip install…failed; npm install…failed; apt get…failed; failed
            to install; installation…failed; could not install; cannot install; unable to install; couldn t install;
            pip subprocess to install; configure error; configuring incomplete; cmake error; meson build error;
            setup script…failed; postinstall…failed; lifecycle script…failed; failed to run postinstall; native
            module…failed; prebuild install…failed
            """
        ),
        unless=listed("agent installation failed"),
    ),
    Sign(
        "no-image",
        FailureCause.DEPENDENCY,
        3,
        "an image that does not exist",
        listed(
            """
            manifest unknown; manifest for…not found; pull access denied; repository does not exist; requested
            access to the resource is denied; no such image; image not found; imagenotfound; unable to find image;
            errimagepull; imagepullbackoff; invalid reference format; failed to read dockerfile; failed to pull…not
            found; image…not present locally; no such manifest; tag does not exist; could not find the image;
            invalidimagename; image…does not exist
            """
        ),
        unless=listed("locally"),
    ),
)
