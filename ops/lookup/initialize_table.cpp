// Initialization of tables that do not change later.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::initialize_table_op {

extern constexpr op_def initialize_table = table_user({
    .name = "InitializeTable",
    .second_name = "InitializeTableV2",
    .doc = "Gives a HashTable its pairs: keys [n] and a value for each.\n\n"
           "A key may come twice with the same value. Fails with invalid_argument where it comes "
           "with two, and with failed_precondition where the table has other pairs already; it "
           "has then what it had.",
    .inputs = {table_handle, {"keys", "Tkey"}, {"values", "Tval"}},
    .attrs = {{"Tkey", table_keys}, {"Tval", table_values}},
    .infer = infer_table_initialize,
    .example = R"(
t = HashTable key_dtype=i64 value_dtype=i64
init = InitializeTable(t, i64[1, 2], i64[10, 20])
other = InitializeTable(t, i64[1, 2], i64[10, 21])
size = LookupTableSize(t)
target init
run
fetch size = i64(2)
run
target other
error failed_precondition "was initialised already, with other pairs"
)",
});

extern constexpr op_def initialize_table_from_text_file = table_user({
    .name = "InitializeTableFromTextFile",
    .second_name = "InitializeTableFromTextFileV2",
    .doc = "Gives a HashTable its pairs from a text file, a pair a line.\n\n"
           "key_index and value_index say what of a line is the key and the value: the number of "
           "a column (columns lie between delimiters), -2 the whole line, -1 the number of the "
           "line, counted from 0, plus offset. Numbers may have spaces around them. Lines end "
           "with LF or CR LF; none may be empty. With a vocab_size, only as many lines count, and "
           "there must be as many.\n\n"
           "The file is read by the task that holds the table. Errors name the file and the "
           "line, counted from 1. A table that has pairs already must have the same ones "
           "(TensorFlow does not look).",
    .inputs = {table_handle, {"filename", "string"}},
    .attrs = {{"key_index", at_least{-2}},
              {"value_index", at_least{-2}},
              {"vocab_size", -1},
              {"delimiter", "\t"},
              {"offset", 0}},
    .infer = infer_table_initialize_from_file,
    .example = R"(
words = HashTable key_dtype=string value_dtype=i64
init = InitializeTableFromTextFile(words, string("words.txt")) key_index=-2 value_index=-1
target init
error not_found "there is no file 'words.txt'"
)",
});

} // namespace troupe::ops::initialize_table_op
