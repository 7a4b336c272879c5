! SPDX-License-Identifier: BSD-2-Clause
! The modules mpi and mpi_f08, as far as the tests and tutorials use them, for a compiler that cannot read those of MPI, which
! are for the compiler that made them. They call MPI's functions for Fortran 77, which serve any compiler whose symbols end
! with an underscore. A module mpi_f08 that a compiler has made itself is better: this one is for the tests alone.
module mpi_f77
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  interface
    subroutine f77_init(ierror) bind(C, name="mpi_init_")
      integer, intent(out) :: ierror
    end subroutine f77_init
    subroutine f77_finalize(ierror) bind(C, name="mpi_finalize_")
      integer, intent(out) :: ierror
    end subroutine f77_finalize
    subroutine f77_comm_rank(comm, rank, ierror) bind(C, name="mpi_comm_rank_")
      integer, intent(in) :: comm
      integer, intent(out) :: rank, ierror
    end subroutine f77_comm_rank
    subroutine f77_comm_size(comm, size, ierror) bind(C, name="mpi_comm_size_")
      integer, intent(in) :: comm
      integer, intent(out) :: size, ierror
    end subroutine f77_comm_size
    subroutine f77_comm_free(comm, ierror) bind(C, name="mpi_comm_free_")
      integer, intent(inout) :: comm
      integer, intent(out) :: ierror
    end subroutine f77_comm_free
    subroutine f77_barrier(comm, ierror) bind(C, name="mpi_barrier_")
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine f77_barrier
    subroutine f77_allreduce(sent, received, count, datatype, op, comm, ierror) bind(C, name="mpi_allreduce_")
      import :: c_ptr
      type(c_ptr), value :: sent, received
      integer, intent(in) :: count, datatype, op, comm
      integer, intent(out) :: ierror
    end subroutine f77_allreduce
    subroutine f77_sendrecv(sent, sent_count, sent_type, to, sent_tag, received, received_count, received_type, from, &
        received_tag, comm, status, ierror) bind(C, name="mpi_sendrecv_")
      import :: c_ptr
      type(c_ptr), value :: sent, received
      integer, intent(in) :: sent_count, sent_type, to, sent_tag, received_count, received_type, from, received_tag, comm
      integer, intent(out) :: status(*), ierror
    end subroutine f77_sendrecv
    subroutine f77_dims_create(processes, ndims, dims, ierror) bind(C, name="mpi_dims_create_")
      integer, intent(in) :: processes, ndims
      integer, intent(inout) :: dims(*)
      integer, intent(out) :: ierror
    end subroutine f77_dims_create
    subroutine f77_cart_create(comm, ndims, dims, periods, reorder, cart, ierror) bind(C, name="mpi_cart_create_")
      integer, intent(in) :: comm, ndims, dims(*), periods(*), reorder
      integer, intent(out) :: cart, ierror
    end subroutine f77_cart_create
    subroutine f77_cart_coords(comm, rank, ndims, coords, ierror) bind(C, name="mpi_cart_coords_")
      integer, intent(in) :: comm, rank, ndims
      integer, intent(out) :: coords(*), ierror
    end subroutine f77_cart_coords
    subroutine f77_cart_shift(comm, direction, disp, source, dest, ierror) bind(C, name="mpi_cart_shift_")
      integer, intent(in) :: comm, direction, disp
      integer, intent(out) :: source, dest, ierror
    end subroutine f77_cart_shift
  end interface
end module mpi_f77

module mpi
  use mpi_f77
  implicit none
  include 'mpif.h'
  interface MPI_Init
    procedure f77_init
  end interface MPI_Init
  interface MPI_Finalize
    procedure f77_finalize
  end interface MPI_Finalize
  interface MPI_Comm_rank
    procedure f77_comm_rank
  end interface MPI_Comm_rank
  interface MPI_Comm_size
    procedure f77_comm_size
  end interface MPI_Comm_size
  interface MPI_Barrier
    procedure f77_barrier
  end interface MPI_Barrier
end module mpi

module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f77
  use mpi, only: world => MPI_COMM_WORLD, real64_of_mpi => MPI_DOUBLE_PRECISION, sum_of_mpi => MPI_SUM, &
    max_of_mpi => MPI_MAX, status_size => MPI_STATUS_SIZE, MPI_IN_PLACE
  implicit none
  private
  public :: MPI_Comm, MPI_Datatype, MPI_Op, MPI_Status, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_MAX
  public :: MPI_STATUS_IGNORE, MPI_IN_PLACE
  public :: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_Comm_free, MPI_Barrier, MPI_Allreduce, MPI_Sendrecv
  public :: MPI_Dims_create, MPI_Cart_create, MPI_Cart_coords, MPI_Cart_shift

  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type MPI_Comm
  type, bind(C) :: MPI_Datatype
    integer :: MPI_VAL
  end type MPI_Datatype
  type, bind(C) :: MPI_Op
    integer :: MPI_VAL
  end type MPI_Op
  type :: MPI_Status
    integer :: words(status_size)
  end type MPI_Status
  type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(world)
  type(MPI_Datatype), parameter :: MPI_DOUBLE_PRECISION = MPI_Datatype(real64_of_mpi)
  type(MPI_Op), parameter :: MPI_SUM = MPI_Op(sum_of_mpi), MPI_MAX = MPI_Op(max_of_mpi)
  type(MPI_Status), save :: MPI_STATUS_IGNORE

  interface MPI_Allreduce
    procedure allreduce_number, allreduce_list, allreduce_in_place, allreduce_matrix_in_place
  end interface MPI_Allreduce
contains
  subroutine give(code, ierror)
    integer, intent(in) :: code
    integer, intent(out), optional :: ierror
    if (present(ierror)) ierror = code
  end subroutine give

  subroutine MPI_Init(ierror)
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_init(code)
    call give(code, ierror)
  end subroutine MPI_Init

  subroutine MPI_Finalize(ierror)
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_finalize(code)
    call give(code, ierror)
  end subroutine MPI_Finalize

  subroutine MPI_Comm_rank(comm, rank, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: rank
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_comm_rank(comm%MPI_VAL, rank, code)
    call give(code, ierror)
  end subroutine MPI_Comm_rank

  subroutine MPI_Comm_size(comm, size, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: size
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_comm_size(comm%MPI_VAL, size, code)
    call give(code, ierror)
  end subroutine MPI_Comm_size

  subroutine MPI_Comm_free(comm, ierror)
    type(MPI_Comm), intent(inout) :: comm
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_comm_free(comm%MPI_VAL, code)
    call give(code, ierror)
  end subroutine MPI_Comm_free

  subroutine MPI_Barrier(comm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_barrier(comm%MPI_VAL, code)
    call give(code, ierror)
  end subroutine MPI_Barrier

  subroutine MPI_Dims_create(processes, ndims, dims, ierror)
    integer, intent(in) :: processes, ndims
    integer, intent(inout) :: dims(ndims)
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_dims_create(processes, ndims, dims, code)
    call give(code, ierror)
  end subroutine MPI_Dims_create

  ! MPI's own truth values: 0 and, in Open MPI and MPICH, anything else.
  subroutine MPI_Cart_create(comm, ndims, dims, periods, reorder, cart, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ndims, dims(ndims)
    logical, intent(in) :: periods(ndims), reorder
    type(MPI_Comm), intent(out) :: cart
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_cart_create(comm%MPI_VAL, ndims, dims, merge(1, 0, periods), merge(1, 0, reorder), cart%MPI_VAL, code)
    call give(code, ierror)
  end subroutine MPI_Cart_create

  subroutine MPI_Cart_coords(comm, rank, ndims, coords, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: rank, ndims
    integer, intent(out) :: coords(ndims)
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_cart_coords(comm%MPI_VAL, rank, ndims, coords, code)
    call give(code, ierror)
  end subroutine MPI_Cart_coords

  subroutine MPI_Cart_shift(comm, direction, disp, source, dest, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: direction, disp
    integer, intent(out) :: source, dest
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_cart_shift(comm%MPI_VAL, direction, disp, source, dest, code)
    call give(code, ierror)
  end subroutine MPI_Cart_shift

  subroutine allreduce(sent, received, count, datatype, op, comm, ierror)
    type(c_ptr), intent(in) :: sent, received
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_allreduce(sent, received, count, datatype%MPI_VAL, op%MPI_VAL, comm%MPI_VAL, code)
    call give(code, ierror)
  end subroutine allreduce

  ! One number, or the first of several in a list.
  subroutine allreduce_number(sent, received, count, datatype, op, comm, ierror)
    real(real64), intent(in), target :: sent
    real(real64), intent(inout), target :: received
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call allreduce(c_loc(sent), c_loc(received), count, datatype, op, comm, ierror)
  end subroutine allreduce_number

  subroutine allreduce_list(sent, received, count, datatype, op, comm, ierror)
    real(real64), intent(in), target :: sent
    real(real64), intent(inout), target, contiguous :: received(:)
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call allreduce(c_loc(sent), c_loc(received), count, datatype, op, comm, ierror)
  end subroutine allreduce_list

  ! With MPI_IN_PLACE, which MPI knows by its address.
  subroutine allreduce_in_place(in_place, received, count, datatype, op, comm, ierror)
    integer, intent(in), target :: in_place
    real(real64), intent(inout), target, contiguous :: received(:)
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call allreduce(c_loc(in_place), c_loc(received), count, datatype, op, comm, ierror)
  end subroutine allreduce_in_place

  subroutine allreduce_matrix_in_place(in_place, received, count, datatype, op, comm, ierror)
    integer, intent(in), target :: in_place
    real(real64), intent(inout), target, contiguous :: received(:, :)
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call allreduce(c_loc(in_place), c_loc(received), count, datatype, op, comm, ierror)
  end subroutine allreduce_matrix_in_place

  subroutine MPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, received_count, received_type, from, received_tag, &
      comm, status, ierror)
    real(real64), intent(in), target, contiguous :: sent(:)
    real(real64), intent(inout), target, contiguous :: received(:)
    integer, intent(in) :: sent_count, to, sent_tag, received_count, from, received_tag
    type(MPI_Datatype), intent(in) :: sent_type, received_type
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Status), intent(inout) :: status
    integer, intent(out), optional :: ierror
    integer :: code
    call f77_sendrecv(c_loc(sent), sent_count, sent_type%MPI_VAL, to, sent_tag, c_loc(received), received_count, &
      received_type%MPI_VAL, from, received_tag, comm%MPI_VAL, status%words, code)
    call give(code, ierror)
  end subroutine MPI_Sendrecv
end module mpi_f08
