// Sums and products as the processor's reductions, scans and segments want them.
#pragma once
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/reduction/shared/reduce.cpu.hpp"
