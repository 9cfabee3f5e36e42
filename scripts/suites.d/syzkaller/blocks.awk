# SPDX-License-Identifier: GPL-2.0
# Reads what "objdump -dr --no-show-raw-insn" prints of a module for User Mode Linux. Prints where
# each basic block calls KCOV: the address behind the call, by which KCOV names the block. Such a
# call is indirect: the code before it loads KCOV's address into a register.
/^[0-9a-f]+ </ { delete is_kcov }
/R_X86_64_64\t__sanitizer_cov_trace_pc$/ { is_kcov[to] = 1 }
/^ *[0-9a-f]+:\t/ {
  if (called) print substr($1, 1, length($1) - 1)
  called = 0
  to = gensub(/.*[,\t ]%/, "", 1)
  to = gensub(/^(r[0-9]+)d$/, "\\1", 1, gensub(/^e(..)$/, "r\\1", 1, to))
  if ($2 !~ /^call/) {
    delete is_kcov[to]
    next
  }
  called = $3 ~ /^\*%/ && is_kcov[substr($3, 3)]
  split("rax rcx rdx rsi rdi r8 r9 r10 r11", lost, " ")
  for (i in lost) delete is_kcov[lost[i]]
}
