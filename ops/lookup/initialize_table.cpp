// Initialization of tables that do not change later.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::initialize_table_op {

extern constexpr op_def initialize_table = table_user({
    .name = "InitializeTable",
    .second_name = "InitializeTableV2",
    .doc = "Initializes a HashTable with keys [n] and a value for each.\n\nA key may occur twice "
           "with the same value. Fails with invalid_argument for a key with two values, and with "
           "failed_precondition for a table that has other pairs already. After a failure the "
           "table is unchanged.",
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
error failed_precondition "was initialized already, with other pairs"
)",
});

extern constexpr op_def initialize_table_from_text_file = table_user({
    .name = "InitializeTableFromTextFile",
    .second_name = "InitializeTableFromTextFileV2",
    .doc = "Initializes a HashTable from a text file with one pair per line.\n\nkey_index and "
           "value_index select the key and the value of a line: the number of a column (columns "
           "are separated by delimiter), -2 for the whole line, or -1 for the number of the line, "
           "counted from 0, plus offset. Numbers may be surrounded by spaces. Lines end with LF or "
           "CR LF, and must not be empty. With a vocab_size, only that many lines are read, and "
           "the file must have them.\n\nThe task that holds the table reads the file. Errors name "
           "the file and the line, counted from 1. A table that has pairs already must have the "
           "same pairs (TensorFlow does not check this).",
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
