// The distribution of LearnedUnigramCandidateSampler and ThreadUnsafeUnigramCandidateSampler.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Makes a sampler whose classes are as likely as they were among the true ones so far, each
/// counted once to begin with.
result<std::shared_ptr<void>> prepare_learned_unigrams(const kernel_setup& setup);

} // namespace troupe::ops
