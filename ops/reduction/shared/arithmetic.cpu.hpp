// Sums and products for the processor's reductions, scans and segments.
#pragma once
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/reduction/shared/reduce.cpu.hpp"
