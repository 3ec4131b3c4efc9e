from paddock.cli.main import main

main()
