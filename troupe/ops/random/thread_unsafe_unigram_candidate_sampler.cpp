// ThreadUnsafeUnigramCandidateSampler: another name of LearnedUnigramCandidateSampler.
#include "troupe/ops/random/shared/candidate_sampler.hpp"

namespace troupe::ops::thread_unsafe_unigram_candidate_sampler_op {

extern constexpr op_def thread_unsafe_unigram_candidate_sampler = candidate_sampler({
    .name = "ThreadUnsafeUnigramCandidateSampler",
    .doc = "Does what LearnedUnigramCandidateSampler does, and is as safe.",
    .attrs = sampler_attrs,
    .example = R"(
x = Placeholder dtype=i64 shape=[-1,1]
s = ThreadUnsafeUnigramCandidateSampler(x) num_true=1 num_sampled=2 unique=false range_max=3
feed x = i64[[0]]
fetch s:1 = f32[[0.6666667]]
)",
});

} // namespace troupe::ops::thread_unsafe_unigram_candidate_sampler_op
