/*
 * The launcher for arm64; see x64.S, which it repeats step by step.
 *
 * x19: the entry, w20: its flags, x21: the result that was kept, w22: the entry to go on at.
 */
.globl _start
.equ TABLE, 0x10000000
.equ SYS_read, 63
.equ SYS_write, 64
.equ SYS_exit_group, 94
.equ EXIT_FAILED, 125

_start: mov x19, TABLE
read:   mov x8, SYS_read
        mov x0, 0
        mov x1, x19
        mov x2, 0x10000
        svc 0
        cmp x0, 0
        b.lt die
        b.eq first
        add x19, x19, x0
        b read
first:  mov x19, TABLE
next:   ldr x8, [x19]
        ldp x0, x1, [x19, 8]
        ldp x2, x3, [x19, 24]
        ldp x4, x5, [x19, 40]
        ldp w20, w22, [x19, 56]
        tbz w20, 1, 1f
        mov x0, x21
1:      svc 0
        tbz w20, 2, 2f
        mov x21, x0
2:      cmp x0, 0
        b.lt failed
        b.eq step
        tbz w20, 3, step
        mov x19, TABLE
        add x19, x19, x22, lsl 6
        b next
failed: tbz w20, 0, die
step:   add x19, x19, 64
        b next
die:    neg x1, x0
        mov x3, TABLE
        sub x0, x19, x3
        lsr x0, x0, 6
        stp x0, x1, [sp, -16]!
        mov x8, SYS_write
        mov x0, 2
        mov x1, sp
        mov x2, 16
        svc 0
        mov x8, SYS_exit_group
        mov x0, EXIT_FAILED
        svc 0
