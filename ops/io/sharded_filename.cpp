// The names of shards, of which each task writes its own.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sharded_filename_op {

extern constexpr op_def sharded_filename{
    .name = "ShardedFilename",
    .doc = "Makes the name of a shard: \"model-00001-of-00004\".",
    .inputs = {{"basename", "string"}, {"shard", "i32"}, {"num_shards", "i32"}},
    .outputs = {{"filename", "string"}},
    .infer = infer::scalar,
    .no_gradient = "strings have no gradients",
    .example = R"(
name = ShardedFilename(string("model"), i32(1), i32(4))
fetch name = string("model-00001-of-00004")
)",
};

extern constexpr op_def sharded_filespec{
    .name = "ShardedFilespec",
    .doc = "Makes a pattern that all shards match: \"model-????"
           "?-of-00004\".",
    .inputs = {{"basename", "string"}, {"num_shards", "i32"}},
    .outputs = {{"filename", "string"}},
    .infer = infer::scalar,
    .no_gradient = "strings have no gradients",
    .example = R"(
name = ShardedFilespec(string("model"), i32(4))
fetch name = string("model-????)"
               R"(?-of-00004")
)",
};

} // namespace troupe::ops::sharded_filename_op
