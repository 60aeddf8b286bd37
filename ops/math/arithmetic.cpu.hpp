// Sums and products as the processor's reductions, scans and segments want them.
#pragma once
#include "troupe/ops/math/reduce.cpu.hpp"
#include "troupe/ops/math/reducers.hpp"
