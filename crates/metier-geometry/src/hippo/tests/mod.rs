mod legs;
mod limit;
mod memories;
