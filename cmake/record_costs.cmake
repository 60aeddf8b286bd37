# Lets each command of a build append its processor time to costs.tsv in the build folder. Only
# scripts/build-cost includes this file (CMAKE_PROJECT_TOP_LEVEL_INCLUDES).
set(record "\"${CMAKE_CURRENT_LIST_DIR}/../scripts/build-cost\" --record \"${CMAKE_BINARY_DIR}/costs.tsv\"")
set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${record} <OBJECT> --")
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${record} <TARGET> --")
set_property(GLOBAL PROPERTY RULE_LAUNCH_CUSTOM "${record} <OUTPUT> --")
