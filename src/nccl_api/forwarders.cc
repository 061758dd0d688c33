// SPDX-License-Identifier: Apache-2.0
// Functions of NCCL that only the shim has: those of nccl_device.h, and those newer than 2.28. They go to the
// real library with whatever arguments they have: a jump, through a slot that is filled at the first call.
#include "nccl_api/forwarding.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the shim's forwarders are written for x86-64 and aarch64"
#endif

// For each function: its name, its slot, and two pieces of code. `nccl…` jumps to what the slot holds. That
// is at first the other piece, which hands name and slot to detccl_forward_first. It keeps every register in
// which arguments travel, has the slot filled, and goes on to the function.
asm(
#if defined(__x86_64__)
    R"(
.macro forwarder name
  .section .rodata
  .Ldetccl_name_\name: .asciz "nccl\name"
  .data
  .balign 8
  .Ldetccl_slot_\name: .quad .Ldetccl_first_\name
  .text
  .balign 16
  .globl nccl\name, pnccl\name
  .type nccl\name, @function
  nccl\name:
    endbr64
    jmp *.Ldetccl_slot_\name(%rip)
  .size nccl\name, . - nccl\name
  .set pnccl\name, nccl\name
  .Ldetccl_first_\name:
    endbr64
    leaq .Ldetccl_name_\name(%rip), %r11
    leaq .Ldetccl_slot_\name(%rip), %r10
    jmp detccl_forward_first
.endm

  .text
  .balign 16
  .type detccl_forward_first, @function
detccl_forward_first:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movq %r11, %rdi
  movq %r10, %rsi
  call detccl_forward_resolve
  movq %rax, %r11
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size detccl_forward_first, . - detccl_forward_first
)"
#else
    R"(
.macro forwarder name
  .section .rodata
  .Ldetccl_name_\name: .asciz "nccl\name"
  .data
  .balign 8
  .Ldetccl_slot_\name: .xword .Ldetccl_first_\name
  .text
  .balign 16
  .globl nccl\name, pnccl\name
  .type nccl\name, %function
  nccl\name:
    hint #34
    adrp x16, .Ldetccl_slot_\name
    ldr x16, [x16, :lo12:.Ldetccl_slot_\name]
    br x16
  .size nccl\name, . - nccl\name
  .set pnccl\name, nccl\name
  .Ldetccl_first_\name:
    hint #34
    adrp x16, .Ldetccl_name_\name
    add x16, x16, :lo12:.Ldetccl_name_\name
    adrp x17, .Ldetccl_slot_\name
    add x17, x17, :lo12:.Ldetccl_slot_\name
    b detccl_forward_first
.endm

  .text
  .balign 16
  .type detccl_forward_first, %function
detccl_forward_first:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov x0, x16
  mov x1, x17
  bl detccl_forward_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .size detccl_forward_first, . - detccl_forward_first
)"
#endif
    R"(
  /* nccl_device.h, 2.28 */
  forwarder DevCommCreate
  forwarder DevCommDestroy
  forwarder GinBarrierCreateRequirement
  forwarder LLA2ACalcSlots
  forwarder LLA2ACreateRequirement
  forwarder LsaBarrierCreateRequirement
  forwarder TeamLsa
  forwarder TeamRail
  forwarder TeamRankToLsa
  forwarder TeamRankToWorld
  forwarder TeamWorld

  /* nccl_device.h, newer */
  forwarder CommQueryProperties
  forwarder GetLsaDevicePointer
  forwarder GetLsaMultimemDevicePointer
  forwarder GetMultimemDevicePointer
  forwarder GetPeerDevicePointer
  forwarder GinInboxA2ACreateRequirement
  forwarder GinOutboxCreateRequirement
  forwarder GetCftDeviceLeInfo
  forwarder GetMultimemDeviceLeInfo
  forwarder GetPeerDeviceLeInfo
  forwarder TeamCft
  forwarder TeamCftMultimem

  /* nccl.h, newer; the others that are newer are not only forwarded: newer_operations.cc, newer_reductions.cc */
  forwarder CommGetUniqueId
  forwarder CommMemStats
  forwarder CommResume
  forwarder CommSuspend
  forwarder ParamBind
  forwarder ParamDumpAll
  forwarder ParamGet
  forwarder ParamGetAllParameterKeys
  forwarder ParamGetI16
  forwarder ParamGetI32
  forwarder ParamGetI64
  forwarder ParamGetI8
  forwarder ParamGetParameter
  forwarder ParamGetStr
  forwarder ParamGetU16
  forwarder ParamGetU32
  forwarder ParamGetU64
  forwarder ParamGetU8
  forwarder SetEncryption
  forwarder WinGetUserPtr

  /* exported by NCCL without a declaration */
  forwarder ResetDebugInitInternal
)");
