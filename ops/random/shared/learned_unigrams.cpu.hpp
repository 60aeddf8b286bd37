// The distribution of LearnedUnigramCandidateSampler and ThreadUnsafeUnigramCandidateSampler.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Makes a sampler whose class probabilities are proportional to the counts of the true classes so
/// far; each count starts at 1.
result<std::shared_ptr<void>> prepare_learned_unigrams(const kernel_setup& setup);

} // namespace troupe::ops
