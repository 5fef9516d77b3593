#include "textflag.h"

// CLONE_VM|CLONE_VFORK|SIGCHLD, and the number of clone.
#define FLAGS 0x4111
#define CLONE 220

// func vfork() (pid uintptr, errno syscall.Errno)
//
// The return address is in a register, which the child cannot overwrite.
TEXT ·vfork(SB),NOSPLIT|NOFRAME,$0-16
	MOVD	$FLAGS, R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$CLONE, R8
	SVC
	CMN	$4095, R0
	BCS	failed
	MOVD	R0, pid+0(FP)
	MOVD	ZR, errno+8(FP)
	RET
failed:
	NEG	R0, R0
	MOVD	ZR, pid+0(FP)
	MOVD	R0, errno+8(FP)
	RET
