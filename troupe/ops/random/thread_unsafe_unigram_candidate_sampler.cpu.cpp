#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"
#include "troupe/ops/random/shared/learned_unigrams.cpu.hpp"

namespace troupe::ops::thread_unsafe_unigram_candidate_sampler_cpu {

extern constexpr kernel_def thread_unsafe_unigram_candidate_sampler_cpu{
    .op = "ThreadUnsafeUnigramCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_learned_unigrams,
};

} // namespace troupe::ops::thread_unsafe_unigram_candidate_sampler_cpu
