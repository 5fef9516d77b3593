//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// func places(text *byte, n int, p *probe) int
//
// It needs no more than SSE2, which each amd64 has: memory is not faster. The processor reads
// ahead by itself, but not across the end of a page.
TEXT ·places(SB), NOSPLIT, $0-32
	MOVQ  text+0(FP), SI
	MOVQ  n+8(FP), CX
	MOVQ  p+16(FP), DI
	MOVOU probe_mask(DI), X0
	MOVOU probe_mask+16(DI), X1
	MOVOU probe_mask+32(DI), X2
	MOVOU probe_mask+48(DI), X3
	MOVOU probe_want(DI), X4
	MOVOU probe_want+16(DI), X5
	MOVOU probe_want+32(DI), X6
	MOVOU probe_want+48(DI), X7
	XORQ  AX, AX

next:
	CMPQ       AX, CX
	JGE        none
	PREFETCHT0 1024(SI)(AX*1)
	MOVOU      0(SI)(AX*1), X8
	MOVOU      1(SI)(AX*1), X9
	MOVOU      2(SI)(AX*1), X10
	MOVOU      3(SI)(AX*1), X11
	POR        X0, X8
	POR        X1, X9
	POR        X2, X10
	POR        X3, X11
	PCMPEQB    X4, X8
	PCMPEQB    X5, X9
	PCMPEQB    X6, X10
	PCMPEQB    X7, X11
	PAND       X9, X8
	PAND       X11, X10
	PAND       X10, X8
	PMOVMSKB   X8, DX
	ADDQ       $16, AX
	TESTL      DX, DX
	JZ         next
	BSFL       DX, DX
	LEAQ       -16(AX)(DX*1), AX
	MOVQ       AX, ret+24(FP)
	RET

none:
	MOVQ $-1, AX
	MOVQ AX, ret+24(FP)
	RET
