// What the processor's kernels of gated recurrent units share.
#pragma once
#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/recurrent/shared/gates.cpu.hpp"
#include "troupe/ops/recurrent/shared/gru_kernels.hpp"
#include "troupe/runtime/graph/infer.hpp"
