#include "troupe/ops/random/candidate_sampler.cpu.hpp"
#include "troupe/ops/random/learned_unigrams.cpu.hpp"

namespace troupe::ops::learned_unigram_candidate_sampler_cpu {

extern constexpr kernel_def learned_unigram_candidate_sampler_cpu{
    .op = "LearnedUnigramCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_learned_unigrams,
};

} // namespace troupe::ops::learned_unigram_candidate_sampler_cpu
