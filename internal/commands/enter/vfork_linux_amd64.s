#include "textflag.h"

// CLONE_VM|CLONE_VFORK|SIGCHLD, and the number of clone.
#define FLAGS 0x4111
#define CLONE 56

// func vfork() (pid uintptr, errno syscall.Errno)
//
// The child overwrites the return address on the stack that it shares, so the parent keeps it in a
// register.
TEXT ·vfork(SB),NOSPLIT|NOFRAME,$0-16
	MOVQ	$FLAGS, DI
	MOVQ	$0, SI
	MOVQ	$0, DX
	MOVQ	$0, R10
	MOVQ	$0, R8
	MOVQ	$CLONE, AX
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	CMPQ	AX, $0xfffffffffffff001
	JCC	failed
	MOVQ	AX, pid+0(FP)
	MOVQ	$0, errno+8(FP)
	RET
failed:
	NEGQ	AX
	MOVQ	$0, pid+0(FP)
	MOVQ	AX, errno+8(FP)
	RET
