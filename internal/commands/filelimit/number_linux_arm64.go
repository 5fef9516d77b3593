package filelimit

// prlimit64 is the number of the system call.
const prlimit64 = 261
