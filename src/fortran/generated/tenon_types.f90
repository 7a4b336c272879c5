! SPDX-License-Identifier: BSD-2-Clause
! Made by src/fortran/generate.py from the public headers. Do not edit.
module tenon_types
  use iso_c_binding, only: c_ptr, c_null_ptr, c_int
  implicit none
  public
  private :: c_ptr, c_null_ptr, c_int
  type, bind(C) :: tenon_trainer
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_trainer
  type, bind(C) :: tenon_partition
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_partition
  type, bind(C) :: tenon_layout
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_layout
  type, bind(C) :: tenon_index_map
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_index_map
  type, bind(C) :: tenon_edges
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_edges
  type, bind(C) :: tenon_links
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_links
  type, bind(C) :: tenon_dtensor
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_dtensor
  type, bind(C) :: tenon_linearop
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_linearop
  type, bind(C) :: tenon_layer
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_layer
  type, bind(C) :: tenon_machine
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_machine
  type, bind(C) :: tenon_optimizer
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_optimizer
  type, bind(C) :: tenon_dataset
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_dataset
  type, bind(C) :: tenon_checkpoint
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_checkpoint
  type, bind(C) :: tenon_field_series
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_field_series
  type, bind(C) :: tenon_placement_list
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_placement_list
  type, bind(C) :: tenon_reduction_programs
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_reduction_programs
  type, bind(C) :: tenon_plan
    type(c_ptr) :: handle = c_null_ptr
  end type tenon_plan
  integer(c_int), parameter :: TENON_SUCCESS = 0
  integer(c_int), parameter :: TENON_ERR_NULL = 1
  integer(c_int), parameter :: TENON_ERR_HANDLE = 2
  integer(c_int), parameter :: TENON_ERR_ARG = 3
  integer(c_int), parameter :: TENON_ERR_STATE = 4
  integer(c_int), parameter :: TENON_ERR_SHAPE = 5
  integer(c_int), parameter :: TENON_ERR_LAYOUT = 6
  integer(c_int), parameter :: TENON_ERR_DATATYPE = 7
  integer(c_int), parameter :: TENON_ERR_TYPE = 8
  integer(c_int), parameter :: TENON_ERR_SUPPORT = 9
  integer(c_int), parameter :: TENON_ERR_OPTION = 10
  integer(c_int), parameter :: TENON_ERR_COLLECTIVE = 11
  integer(c_int), parameter :: TENON_ERR_USER = 12
  integer(c_int), parameter :: TENON_ERR_NOT_FINITE = 13
  integer(c_int), parameter :: TENON_ERR_TEST = 14
  integer(c_int), parameter :: TENON_ERR_MEMORY_LIMIT = 15
  integer(c_int), parameter :: TENON_ERR_MEMORY = 64
  integer(c_int), parameter :: TENON_ERR_MPI = 65
  integer(c_int), parameter :: TENON_ERR_FILE = 66
  integer(c_int), parameter :: TENON_ERR_FORMAT = 67
  integer(c_int), parameter :: TENON_ERR_TIMEOUT = 68
  integer(c_int), parameter :: TENON_ERR_LIBRARY = 69
  integer(c_int), parameter :: TENON_ERR_INTERNAL = 127
  integer(c_int), parameter :: TENON_COLLECTIVE_ALL_GATHER = 0
  integer(c_int), parameter :: TENON_COLLECTIVE_REDUCE_SCATTER = 1
  integer(c_int), parameter :: TENON_COLLECTIVE_ALL_REDUCE = 2
  integer(c_int), parameter :: TENON_COLLECTIVE_BROADCAST = 3
  integer(c_int), parameter :: TENON_COLLECTIVE_REDUCE = 4
  integer(c_int), parameter :: TENON_REDUCTION_RING = 0
  integer(c_int), parameter :: TENON_REDUCTION_TREE = 1
  integer(c_int), parameter :: TENON_REDUCTION_DIRECT = 2
  integer(c_int), parameter :: TENON_FACES_NONE = 0
  integer(c_int), parameter :: TENON_FACES_ALL = 1
  integer(c_int), parameter :: TENON_FACES_LOWER = 2
  integer(c_int), parameter :: TENON_FACES_UPPER = 3
  integer(c_int), parameter :: TENON_BOUNDARY_NONE = 0
  integer(c_int), parameter :: TENON_BOUNDARY_ZERO = 1
  integer(c_int), parameter :: TENON_BOUNDARY_PERIODIC = 2
  integer(c_int), parameter :: TENON_BOUNDARY_REFLECT = 3
  integer(c_int), parameter :: TENON_BOUNDARY_REPLICATE = 4
  integer(c_int), parameter :: TENON_BOUNDARY_VALUES = 5
  integer(c_int), parameter :: TENON_BOUNDARY_SYMMETRIC = 6
  integer(c_int), parameter :: TENON_BOUNDARY_ODD = 7
  integer(c_int), parameter :: TENON_BOUNDARY_ODD_POINT = 8
  integer(c_int), parameter :: TENON_BOUNDARY_LINKED = 9
  integer(c_int), parameter :: TENON_LINK_TOUCHING = 0
  integer(c_int), parameter :: TENON_LINK_FILLING = 1
  integer(c_int), parameter :: TENON_LINK_LEAVING = 2
  integer(c_int), parameter :: TENON_OPTION_FLAG = 0
  integer(c_int), parameter :: TENON_OPTION_INT = 1
  integer(c_int), parameter :: TENON_OPTION_REAL = 2
  integer(c_int), parameter :: TENON_OPTION_STRING = 3
  integer(c_int), parameter :: TENON_OPTION_CHOICE = 4
  integer(c_int), parameter :: TENON_OPTION_WORD = 5
  integer(c_int), parameter :: TENON_OPTION_INTEGERS = 6
  integer(c_int), parameter :: TENON_OPTION_TEXT_OWNER = 0
  integer(c_int), parameter :: TENON_OPTION_TEXT_KEY = 1
  integer(c_int), parameter :: TENON_OPTION_TEXT_DEFAULT = 2
  integer(c_int), parameter :: TENON_OPTION_TEXT_HELP = 3
  integer(c_int), parameter :: TENON_OPTION_TEXT_CHOICES = 4
  integer(c_int), parameter :: TENON_OPTION_TEXT_TYPE = 5
  integer(c_int), parameter :: TENON_TRAINER_STEP = 0
  integer(c_int), parameter :: TENON_TRAINER_VALIDATION = 1
  integer(c_int), parameter :: TENON_TRAINER_EPOCH = 2
  integer(c_int), parameter :: TENON_FLOAT32 = 0
  integer(c_int), parameter :: TENON_FLOAT64 = 1
  integer(c_int), parameter :: TENON_INT64 = 2
  integer(c_int), parameter :: TENON_MEMORY_HOST = 0
  integer(c_int), parameter :: TENON_MEMORY_DEVICE = 1
  integer(c_int), parameter :: TENON_FALSE = 0
  integer(c_int), parameter :: TENON_TRUE = 1
end module tenon_types
