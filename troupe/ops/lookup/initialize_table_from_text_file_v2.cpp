// InitializeTableFromTextFileV2: gives a constant table its pairs from a file.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::initialize_table_from_text_file_v2_op {

extern constexpr op_def initialize_table_from_text_file_v2 = table_user({
    .name = "InitializeTableFromTextFileV2",
    .doc = "Gives a HashTable its pairs from a text file, a pair a line.\n\n"
           "The same as InitializeTableFromTextFile, whose table has a reference as handle in "
           "TensorFlow, where this has a resource.",
    .inputs = {table_handle, {"filename", "string"}},
    .attrs = {{"key_index", at_least{-2}},
              {"value_index", at_least{-2}},
              {"vocab_size", -1},
              {"delimiter", "\t"},
              {"offset", 0}},
    .infer = infer_table_initialize_from_file,
    .example = R"(
words = HashTableV2 key_dtype=string value_dtype=i64
init = InitializeTableFromTextFileV2(words, string("words.txt")) key_index=-2 value_index=-1
target init
error not_found "there is no file 'words.txt'"
)",
});

} // namespace troupe::ops::initialize_table_from_text_file_v2_op
