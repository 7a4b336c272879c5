! SPDX-License-Identifier: BSD-2-Clause
! Initialisation. This module passes the command line to the library, since a Fortran main program
! has no argv: otherwise options on the command line would be ignored. It also gives the library a
! sentence that is appended to messages about dimensions: that they are in the order of C.
module tenon_start
  use iso_c_binding
  use tenon_mpi, only: MPI_Comm
  use tenon_types
  use tenon_c
  use tenon_convert ! finish, addresses
  implicit none
  private
  public :: tenon_initialize, tenon_initialize_with_comm

  interface tenon_initialize_with_comm
    procedure initialize_mpi, initialize_f08
  end interface tenon_initialize_with_comm

  ! The command line in the form of C. It is never deallocated, since MPI can keep its address.
  character(len=:), allocatable, target, save :: words(:)
  type(c_ptr), allocatable, target, save :: argv(:)
contains

  ! Initialises Tenon, and MPI if needed. Collective on MPI_COMM_WORLD. See TenonInitialize().
  subroutine tenon_initialize(help, ierr)
    character(len=*), intent(in), optional :: help
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: argc
    type(c_ptr) :: first
    character(len=:), allocatable :: c_help
    call read_command_line(argc, first)
    if (present(help)) c_help = help//c_null_char
    call finish(TenonInitialize(argc, first, c_help), ierr)
  end subroutine tenon_initialize

  ! Initialises Tenon on the ranks of a communicator. Collective on comm. See TenonInitializeWithComm().
  subroutine initialize_mpi(comm, help, ierr)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in), optional :: help
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: argc
    type(c_ptr) :: first
    character(len=:), allocatable :: c_help
    call read_command_line(argc, first)
    if (present(help)) c_help = help//c_null_char
    call finish(TenonInitializeWithComm(comm, argc, first, c_help), ierr)
  end subroutine initialize_mpi

  subroutine initialize_f08(comm, help, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in), optional :: help
    integer(c_int), intent(out), optional :: ierr
    call initialize_mpi(comm%MPI_VAL, help, ierr)
  end subroutine initialize_f08

  ! Returns argc and argv of a C program with this command line, and registers the sentence about dimensions.
  subroutine read_command_line(argc, first)
    integer(c_int), intent(out) :: argc
    type(c_ptr), intent(out) :: first
    integer :: i, length, longest
    integer(c_int) :: code
    code = TenonSetDimensionNote('(dimensions and indices in this text are those of C: counted from 0, x is the last)'//c_null_char)
    argc = command_argument_count() + 1
    if (.not. allocated(words)) then
      longest = 0
      do i = 0, argc - 1
        call get_command_argument(i, length=length)
        longest = max(longest, length)
      end do
      allocate (character(len=longest + 1) :: words(argc))
      do i = 1, argc
        call get_command_argument(i - 1, words(i), length)
        words(i)(length + 1:length + 1) = c_null_char
      end do
      argv = [addresses(words), c_null_ptr]
    end if
    first = c_loc(argv)
  end subroutine read_command_line
end module tenon_start
