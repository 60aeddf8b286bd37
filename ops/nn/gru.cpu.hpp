// What the processor's kernels of gated recurrent units share.
#pragma once
#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/nn/gates.cpu.hpp"
#include "troupe/ops/nn/gru_kernels.hpp"
#include "troupe/runtime/infer.hpp"
