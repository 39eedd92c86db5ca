/*
 * The launcher for x64: reads a table of system calls from standard input and makes them one after the other. The last one
 * is execve. See ../README.md for the format of the table.
 *
 * ebx: the entry, r12d: its flags, r13: the result that was kept.
 */
.intel_syntax noprefix
.globl _start
.equ TABLE, 0x10000000
.equ ENTRY_SHIFT, 6             /* 64 bytes an entry */
.equ PIECE, 0x10000
.equ SYS_write, 1
.equ SYS_exit_group, 231
.equ EXIT_FAILED, 125

_start: mov ebx, TABLE
read:   xor eax, eax            /* read(0, ebx, PIECE) until the end of input */
        xor edi, edi
        mov rsi, rbx
        mov edx, PIECE
        syscall
        test rax, rax
        js die
        jz first
        add rbx, rax
        jmp read
first:  mov ebx, TABLE
next:   mov rax, [rbx]
        mov rdi, [rbx + 8]
        mov rsi, [rbx + 16]
        mov rdx, [rbx + 24]
        mov r10, [rbx + 32]
        mov r8, [rbx + 40]
        mov r9, [rbx + 48]
        mov r12d, [rbx + 56]
        test r12b, 2            /* the first argument is the result that was kept */
        jz 1f
        mov rdi, r13
1:      syscall
        test r12b, 4            /* keep the result */
        jz 2f
        mov r13, rax
2:      test rax, rax
        js failed
        jz step
        test r12b, 8            /* a result above zero: go on at another entry */
        jz step
        mov eax, [rbx + 60]
        shl eax, ENTRY_SHIFT
        lea ebx, [rax + TABLE]
        jmp next
failed: test r12b, 1            /* this one may fail */
        jz die
step:   add rbx, 1 << ENTRY_SHIFT
        jmp next
die:    neg eax                 /* tell which entry failed and why: two numbers of 64 bits on standard error */
        sub ebx, TABLE
        shr ebx, ENTRY_SHIFT
        push rax
        push rbx
        mov eax, SYS_write
        mov edi, 2
        mov rsi, rsp
        mov edx, 16
        syscall
        mov eax, SYS_exit_group
        mov edi, EXIT_FAILED
        syscall
