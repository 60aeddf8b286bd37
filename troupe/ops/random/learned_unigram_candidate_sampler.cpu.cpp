#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"
#include "troupe/ops/random/shared/learned_unigrams.cpu.hpp"

namespace troupe::ops::learned_unigram_candidate_sampler_cpu {

extern constexpr kernel_def learned_unigram_candidate_sampler_cpu{
    .op = "LearnedUnigramCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_learned_unigrams,
};

} // namespace troupe::ops::learned_unigram_candidate_sampler_cpu
