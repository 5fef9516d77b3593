// Go wants an assembly file in a package that declares functions of the runtime.
